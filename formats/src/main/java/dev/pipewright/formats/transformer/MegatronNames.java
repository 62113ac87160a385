package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.Nearest;
import dev.pipewright.formats.file.Suggestion;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The arguments of Megatron-LM that are read here, without their dashes. Others change neither
 * network nor plan; one that is spelled almost like these is a slip of the pen that Megatron's own
 * parser, which takes no abbreviations, refuses, too.
 */
final class MegatronNames {
  private static final List<String> NETWORK =
      List.of(
          "add-bias-linear",
          "add-position-embedding",
          "add-qkv-bias",
          "attention-dropout",
          "attention-output-gate",
          "decoder-num-layers",
          "disable-bias-linear",
          "experimental-attention-variant",
          "ffn-hidden-size",
          "group-query-attention",
          "heterogeneous-layers-config-encoded-json",
          "heterogeneous-layers-config-path",
          "hidden-dropout",
          "hidden-size",
          "hybrid-attention-ratio",
          "hybrid-layer-pattern",
          "hybrid-override-pattern",
          "is-hybrid-model",
          "kv-channels",
          "kv-lora-rank",
          "linear-attention-freq",
          "linear-attention-type",
          "make-vocab-size-divisible-by",
          "max-position-embeddings",
          "moe-ffn-hidden-size",
          "moe-latent-size",
          "moe-layer-freq",
          "moe-router-enable-expert-bias",
          "moe-router-topk",
          "moe-shared-expert-gate",
          "moe-shared-expert-intermediate-size",
          "mtp-num-layers",
          "multi-latent-attention",
          "no-position-embedding",
          "norm-epsilon",
          "normalization",
          "num-attention-heads",
          "num-experts",
          "num-layers",
          "num-query-groups",
          "padded-vocab-size",
          "position-embedding-type",
          "q-lora-rank",
          "qk-head-dim",
          "qk-layernorm",
          "qk-pos-emb-head-dim",
          "quick-geglu",
          "retro-add-retriever",
          "rope-scaling-factor",
          "rotary-base",
          "rotary-percent",
          "seq-length",
          "softmax-type",
          "squared-relu",
          "swiglu",
          "tokenizer-model",
          "tokenizer-type",
          "untie-embeddings-and-output-weights",
          "use-rope-scaling",
          "use-rotary-position-embeddings",
          "v-head-dim",
          "vocab-size",
          "window-attn-skip-freq",
          "window-size");

  private static final List<String> PLAN =
      List.of(
          "account-for-embedding-in-pipeline-split",
          "account-for-loss-in-pipeline-split",
          "bf16",
          "context-parallel-size",
          "cpu-offloading",
          "data-parallel-sharding-strategy",
          "decoder-first-pipeline-num-layers",
          "decoder-last-pipeline-num-layers",
          "expert-model-parallel-size",
          "expert-tensor-parallel-size",
          "fine-grained-activation-offloading",
          "fp16",
          "global-batch-size",
          "grad-reduce-in-bf16",
          "hierarchical-context-parallel-sizes",
          "micro-batch-size",
          "num-layers-per-virtual-pipeline-stage",
          "num-virtual-stages-per-pipeline-rank",
          "optimizer",
          "overlap-grad-reduce",
          "pipeline-model-parallel-layout",
          "pipeline-model-parallel-size",
          "rampup-batch-size",
          "recompute-activations",
          "recompute-granularity",
          "recompute-method",
          "recompute-modules",
          "recompute-num-layers",
          "sequence-parallel",
          "sgd-momentum",
          "tensor-model-parallel-size",
          "use-distributed-optimizer",
          "use-megatron-fsdp",
          "use-torch-fsdp2",
          "use-tp-pp-dp-mapping",
          "world-size");

  private static final Set<String> READ =
      Stream.concat(NETWORK.stream(), PLAN.stream()).collect(Collectors.toUnmodifiableSet());

  /** Arguments that Megatron has, too, and that are not read though they look like others. */
  private static final Set<String> ALIKE = Set.of("encoder-num-layers");

  private static final int SLIPS = 2; // letters that are wrong at most
  private static final int SHORT = 5; // words in which one wrong letter makes another word

  private MegatronNames() {}

  /** Whether an argument is read. */
  static boolean isRead(String name) {
    return READ.contains(name);
  }

  /** What was meant, as a question; empty where an argument is read, or like none that is. */
  static Optional<String> meant(String name) {
    if (READ.contains(name) || ALIKE.contains(name)) {
      return Optional.empty();
    }
    List<String> near =
        READ.stream().filter(each -> isNear(name, each)).sorted().map(each -> "--" + each).toList();
    return Suggestion.near("--" + name, near);
  }

  /**
   * Whether few letters differ, and of short words one: {@code file} is no slip of {@code size}.
   */
  private static boolean isNear(String name, String known) {
    int slips = Nearest.edits(name, known);
    String[] written = name.split("-", -1);
    String[] meant = known.split("-", -1);
    if (slips > SLIPS || written.length != meant.length) {
      return slips <= 1; // a missing dash
    }
    for (int i = 0; i < meant.length; i++) {
      boolean swapped = sorted(written[i]).equals(sorted(meant[i]));
      if (!swapped && meant[i].length() <= SHORT && Nearest.edits(written[i], meant[i]) > 1) {
        return false;
      }
    }
    return true;
  }

  private static String sorted(String word) {
    return word.chars()
        .sorted()
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }
}
