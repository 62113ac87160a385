package dev.pipewright.app.cli.terminal;

import dev.pipewright.formats.file.Suggestion;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Options as Megatron-LM, DeepSpeed, torchrun, torchtitan and Hugging Face's trainer write them,
 * and what says the same here.
 */
public final class ForeignFlags {
  /**
   * A meaning.
   *
   * @param words that mean it, without leading dashes, separated by blanks
   * @param ours options of ours, the best first; a command has some of them
   * @param elsewhere what to do where the command has none of them
   */
  private record Meaning(String words, List<String> ours, String elsewhere) {
    boolean has(String word) {
      return List.of(words.split(" ")).contains(word);
    }
  }

  private static final List<Meaning> MEANINGS =
      List.of(
          new Meaning(
              "tp tensor tensor-parallel tensor-parallel-size tensor-parallel-degree"
                  + " tensor-model-parallel tensor-model-parallel-size model-parallel-size mp",
              List.of("--tensor-parallel", "--strategies"),
              "the planner chooses tensor parallelism; `predict --tensor T` and"
                  + " `train --tensor-parallel P` set it"),
          new Meaning(
              "cp context context-parallel context-parallel-size context-parallel-degree"
                  + " sequence-parallel-size",
              List.of("--context"),
              "the planner chooses context parallelism; `predict --context C` sets it"),
          new Meaning(
              "ep expert expert-parallel expert-parallel-size expert-parallel-degree"
                  + " expert-model-parallel-size moe-expert-parallel-size",
              List.of("--expert"),
              "the planner chooses expert parallelism; `predict --expert E` sets it"),
          new Meaning(
              "pp pipeline pipeline-parallel pipeline-parallel-size pipeline-parallel-degree"
                  + " pipeline-model-parallel pipeline-model-parallel-size num-stages"
                  + " pipeline-stages pipe-parallel-size stage",
              List.of("--stages", "--strategies"),
              "`train --stages P` and `schedule --stages P` set the number of stages"),
          new Meaning(
              "dp ddp data-parallel data-parallel-size data-parallel-degree"
                  + " data-parallel-replicate-degree num-replicas",
              List.of("--replicas", "--strategies"),
              "the planner chooses data parallelism; `predict --data D` and `train --replicas R`"
                  + " set it"),
          new Meaning(
              "gpus num-gpus ngpus n-gpus gpu num-devices n-devices device-count world-size nproc"
                  + " nproc-per-node nnodes num-nodes nodes gpus-per-node ranks devices",
              List.of("--devices"),
              "the size of a cluster is part of its name, like --cluster dgx-h100:4x8"),
          new Meaning(
              "batch-size batch bs gbs bsz train-batch-size global-batch-size global-bsz"
                  + " training-batch-size total-batch-size",
              List.of("--global-batch", "--batch-per-device", "--batches"),
              "the batch is part of a plan"),
          new Meaning(
              "mbs micro-batch micro-batch-size microbatch-size micro-bsz"
                  + " train-micro-batch-size-per-gpu per-device-train-batch-size local-batch-size",
              List.of("--micro-batch", "--batch-per-device", "--micro-batches"),
              "`plan --micro-batch N` sets the samples of a micro-batch"),
          new Meaning(
              "num-microbatches num-micro-batches n-microbatches microbatches micro-batches"
                  + " gradient-accumulation-steps grad-accum accumulation-steps"
                  + " gradient-accumulation accumulate-grad-batches",
              List.of("--micro-batches", "--segments", "--micro-batch"),
              "`plan --micro-batch N` sets how a global batch is divided"),
          new Meaning(
              "lr learning-rate max-lr",
              List.of("--learning-rate"),
              "`train` takes --learning-rate"),
          new Meaning("wd", List.of("--weight-decay"), "`train` takes --weight-decay"),
          new Meaning("optim optimizer-name", List.of("--optimizer"), "`plan` takes --optimizer"),
          new Meaning(
              "mixed-precision dtype torch-dtype params-dtype fp16 bf16 tf32 fp32 fp8 amp half",
              List.of("--precision"),
              "`plan` and `predict` take --precision"),
          new Meaning(
              "recompute-activations recompute-granularity recompute-method activation-checkpointing"
                  + " activation-checkpoint checkpoint-activations gradient-checkpointing ac-mode"
                  + " recomputation remat",
              List.of("--recompute"),
              "`plan` and `schedule` take --recompute"),
          new Meaning(
              "interleave vpp virtual-stages virtual-pipeline-model-parallel-size"
                  + " num-virtual-stages num-virtual-stages-per-pipeline-rank"
                  + " num-layers-per-virtual-pipeline-stage num-model-chunks",
              List.of("--chunks"),
              "`schedule interleaved --chunks V` and `train --chunks V` interleave stages"),
          new Meaning(
              "pipeline-schedule pipeline-parallel-schedule",
              List.of("--schedule"),
              "`plan` and `train` take --schedule"),
          new Meaning(
              "zero zero-stage zero-optimization fsdp use-distributed-optimizer"
                  + " data-parallel-shard-degree data-parallel-sharding-strategy",
              List.of("--zero", "--strategies"),
              "`train --zero N` shards, and `predict --strategies zero1,zero2,zero3` predicts it"),
          new Meaning(
              "seq-length seq-len sequence-length max-seq-len max-seq-length max-length"
                  + " context-length n-ctx",
              List.of("--sequence"),
              "`plan` and `predict` take --sequence"),
          new Meaning(
              "num-layers n-layers layers n-layer hidden-size hidden d-model n-embd"
                  + " num-attention-heads heads n-head max-position-embeddings vocab-size"
                  + " vocabulary",
              List.of(),
              "the size of a network is part of its name, like"
                  + " gpt:layers=24,hidden=1024,heads=16,sequence=1024,vocabulary=50257"),
          new Meaning(
              "model network net arch model-name model-type model-config", // where it is no option
              List.of("--model"),
              "the network is the first word, like `plan bert-48 …`"),
          new Meaning(
              "gpu-memory memory-limit mem hbm max-memory vram device-memory",
              List.of("--memory", "--memory-cap"),
              "`plan` takes --memory"),
          new Meaning(
              "output output-dir out-dir outdir o save save-dir dump-folder",
              List.of("--out", "--csv"),
              "this command writes no files"),
          new Meaning(
              "save-interval save-steps checkpoint-interval",
              List.of("--checkpoint-every"),
              "`train` takes --checkpoint-every"),
          new Meaning(
              "load load-checkpoint resume-from resume-from-checkpoint",
              List.of("--resume"),
              "`train` takes --resume"),
          new Meaning(
              "train-iters iters iterations max-steps num-steps training-steps num-iterations",
              List.of("--steps", "--time-limit"),
              "`train` takes --steps"),
          new Meaning(
              "epochs num-epochs num-train-epochs",
              List.of("--steps", "--samples"),
              "`train` takes --steps"),
          new Meaning(
              "eval-interval eval-steps eval-freq",
              List.of("--evaluate-every"),
              "`train` takes --evaluate-every"),
          new Meaning("timeout", List.of("--time-limit"), "only searches take --time-limit"),
          new Meaning(
              "bandwidth bandwidths intra-bandwidth inter-bandwidth",
              List.of("--bandwidths", "--cluster"),
              "links are part of a cluster file; `clusters NAME` prints one to start from"));

  private ForeignFlags() {}

  /** What to say of an option that a command does not have. */
  static String unknown(String word, CommandLine line) {
    String option = word.contains("=") ? word.substring(0, word.indexOf('=')) : word;
    return "unknown option '" + option + "'; " + remedy(option, line);
  }

  private static String remedy(String option, CommandLine line) {
    List<OptionSpec> options =
        line.getCommandSpec().options().stream().filter(known -> !known.hidden()).toList();
    List<String> names = options.stream().flatMap(known -> Stream.of(known.names())).toList();
    Optional<String> mistyped = Suggestion.near(option, names).filter(hint -> close(option, hint));
    if (mistyped.isPresent()) {
      return mistyped.get();
    }
    Optional<Meaning> meant = meaning(option);
    if (meant.isEmpty()) {
      return Suggestion.near(option, names).orElse(ParseMistakes.help(line));
    }
    String ours =
        meant.get().ours().stream()
            .flatMap(name -> options.stream().filter(known -> known.longestName().equals(name)))
            .map(known -> known.longestName() + " " + known.paramLabel())
            .limit(2)
            .collect(Collectors.joining(" or "));
    return ours.isEmpty() ? meant.get().elsewhere() : "write " + ours;
  }

  /** Whether a suggestion is a mistyped option for sure: one letter in six at most. */
  private static boolean close(String option, String hint) {
    String suggested = hint.replaceAll(".*\"(.*)\".*", "$1");
    return dev.pipewright.formats.file.Nearest.edits(option, suggested)
        <= Math.max(1, option.length() / 6);
  }

  private static Optional<Meaning> meaning(String option) {
    String word =
        option.replaceAll("^-+", "").replace('_', '-').replace('.', '-').toLowerCase(Locale.ROOT);
    String last = word.substring(word.lastIndexOf('-') + 1); // of training.dtype: dtype
    return MEANINGS.stream()
        .filter(meaning -> meaning.has(word))
        .findFirst()
        .or(() -> MEANINGS.stream().filter(meaning -> meaning.has(last)).findFirst());
  }
}
