package dev.pipewright.predict.transformer;

import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.predict.transformer.GpuMachine.Family;
import dev.pipewright.units.Check;
import dev.pipewright.units.NearCounts;
import java.util.Locale;
import java.util.Set;

/**
 * A training run: what is trained, where and how.
 *
 * @param shape the network; its vocabulary as the run pads it
 * @param fusedAttention whether attention keeps no scores (FlashAttention and its successors)
 * @param routing how tokens reach experts; without meaning where there are none
 * @param offload what waits in the host's memory
 * @param kept details of memory
 */
public record TransformerRun(
    TransformerShape shape,
    GpuMachine machine,
    SoftwareStack software,
    TrainingLayout layout,
    StageSplit split,
    NumberFormats formats,
    boolean fusedAttention,
    RecomputePolicy recompute,
    Routing routing,
    Offload offload,
    Kept kept) {
  /**
   * Routing of tokens to experts.
   *
   * @param oneCopyPerTarget whether the dispatcher sends a token once to each rank and domain
   *     (DeepEP, HybridEP) instead of once for each expert
   * @param overlapped whether the exchange overlaps with another micro-batch's computation
   * @param dropsTokens whether experts have a fixed capacity, so that the host need not wait
   */
  public record Routing(boolean oneCopyPerTarget, boolean overlapped, boolean dropsTokens) {
    /** One copy for each expert, nothing overlapped, nothing dropped. */
    public static final Routing PLAIN = new Routing(false, false, false);
  }

  /**
   * What the host's memory holds.
   *
   * @param layers whole layers of a pipeline rank
   * @param parts parts of each layer
   * @param optimizer share of the optimizer's state, which the host updates, 0 to 1
   */
  public record Offload(int layers, Set<Part> parts, double optimizer) {
    /** Nothing. */
    public static final Offload NOTHING = new Offload(0, Set.of(), 0);

    /** Modules that Megatron-LM's {@code --offload-modules} names. */
    public enum Part {
      EXPERT_FC1,
      MOE_ACT,
      ATTN_NORM,
      MLP_NORM,
      QKV_LINEAR,
      CORE_ATTN,
      ATTN_PROJ
    }

    public Offload {
      parts = Set.copyOf(parts);
      Check.that(layers >= 0, "offload_layers=%d; write a number >= 0", layers);
      Check.that(
          0 <= optimizer && optimizer <= 1,
          "offload_optimizer=%s is no share; write 0 to 1",
          optimizer);
    }
  }

  /**
   * What memory depends on and time does not.
   *
   * @param hiddenDropout whether states have dropout, whose masks are kept
   * @param attentionDropout whether attention's scores have
   * @param logitBytes kept for each logit: 6 (bf16 logits and fp32 soft-max, whose gradient takes
   *     its place), 4 with Transformer Engine's loss
   * @param gatheredBytes of a gathered element of fully sharded parameters
   * @param shardedOptimizer whether the optimizer shards its state where ZeRO says so (Muon does
   *     not)
   */
  public record Kept(
      boolean hiddenDropout,
      boolean attentionDropout,
      double logitBytes,
      double gatheredBytes,
      boolean shardedOptimizer) {}

  /** Throws {@link IllegalArgumentException} where the parts do not go together. */
  public TransformerRun {
    Check.that(
        split.ranks() == layout.pipeline()
            && split.chunks().size() == layout.pipeline() * layout.interleave(),
        "the split has %d chunks on %d ranks; expected pipeline=%d × interleave=%d",
        split.chunks().size(),
        split.ranks(),
        layout.pipeline(),
        layout.interleave());
    Check.that(
        split.layers() == shape.layers(),
        "layers=%d, but the split of the pipeline holds %d; correct one of them",
        shape.layers(),
        split.layers());
    Check.that(
        !formats.products().narrow() || machine.family() != Family.A100,
        "precision=%s is beyond machine=%s, whose products have 16 bits or more; write bf16 or fp16",
        formats.products().name().toLowerCase(Locale.ROOT),
        machine.name());
    int heads = shape.stack().blocks().get(0).attention().heads();
    Check.that(
        heads % layout.tensor() == 0,
        "tensor=%d does not divide heads=%d; write %s",
        layout.tensor(),
        heads,
        NearCounts.divisors(heads, layout.tensor()));
    if (shape.stack().blocks().get(0).attention() instanceof GroupedQuery attention) {
      int shared = attention.keyValueHeads();
      Check.that(
          shared % layout.tensor() == 0 || layout.tensor() % shared == 0,
          "tensor=%d and kv_heads=%d divide neither way; write one that divides the other",
          layout.tensor(),
          shared);
    }
  }

  /** The same with another layout of as many chunks. */
  public TransformerRun with(TrainingLayout other) {
    return with(other, split, recompute);
  }

  /** The same with another layout, split and recomputation. */
  public TransformerRun with(
      TrainingLayout otherLayout, StageSplit otherSplit, RecomputePolicy otherRecompute) {
    return new TransformerRun(
        shape,
        machine,
        software,
        otherLayout,
        otherSplit,
        formats,
        fusedAttention,
        otherRecompute,
        routing,
        offload,
        kept);
  }

  /** Tokens of a micro-batch that one GPU's matrices meet. */
  double tokens() {
    return (double) layout.microBatch() * shape.sequence() / layout.context();
  }

  /** Whether parameters, or gradients in some frameworks, are sharded layer by layer. */
  boolean fullySharded() {
    boolean gradients = layout.shardsGradients() && software.framework().shardsGradientsByLayer();
    return layout.shardsParameters() || gradients;
  }
}
