package dev.pipewright.predict.transformer;

import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.InputShape.Words;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.predict.transformer.TransformerRun.Kept;
import dev.pipewright.predict.transformer.TransformerRun.Offload;
import dev.pipewright.predict.transformer.TransformerRun.Routing;
import dev.pipewright.units.Check;
import dev.pipewright.units.NearCounts;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * What a user chooses of a training run. The rest is usual: Adam with weights and moments in 32
 * bits, dropout only where attention is not fused, layers spread evenly over the pipeline.
 *
 * @param split which layers each pipeline rank holds; empty for as many in each chunk
 * @param fusedAttention whether attention keeps no scores (FlashAttention and its successors)
 * @param schedule of the pipeline by its name in the catalogue; empty for 1F1B, interleaved where
 *     ranks have several chunks
 * @param offloadedLayers of a pipeline rank whose activations wait in the host's memory
 * @param offloadedOptimizer share of the optimizer's state that the host holds and updates
 * @param gradientBytes of an element of the sums of gradients, in memory and as it is exchanged, 2
 *     or 4; empty for those of {@link NumberFormats#mixed}
 */
public record RunChoices(
    TransformerShape shape,
    GpuMachine machine,
    Framework framework,
    TrainingLayout layout,
    Optional<StageSplit> split,
    TrainingPrecision precision,
    boolean fusedAttention,
    RecomputePolicy recompute,
    Optional<String> schedule,
    int offloadedLayers,
    double offloadedOptimizer,
    OptionalInt gradientBytes) {
  private static final double HALF_BYTES = 2;

  /**
   * Throws {@link IllegalArgumentException} where the pipeline cannot hold the layers, or a degree
   * does not divide what it shares, with the nearest that do.
   */
  public RunChoices {
    Optional<String> unequal = split.isPresent() ? Optional.empty() : unequal(layout, shape);
    Check.that(unequal.isEmpty(), "%s", unequal.orElse(""));
    Check.that(
        layout.interleave() == 1
            || schedule.isPresent()
            || layout.microBatches() % layout.pipeline() == 0,
        "global_batch=%d makes %d micro-batches, no multiple of pipeline=%d, which interleave=%d needs; write %s",
        layout.globalBatch(),
        layout.microBatches(),
        layout.pipeline(),
        layout.interleave(),
        NearCounts.multiples(
            (long) layout.pipeline() * layout.data() * layout.microBatch(), layout.globalBatch()));
    for (LayerShape block : shape.stack().blocks()) {
      if (block.feedForward() instanceof Mixture mixture) {
        Check.that(
            mixture.experts() % layout.expert() == 0,
            "expert=%d does not divide experts=%d; write %s",
            layout.expert(),
            mixture.experts(),
            NearCounts.divisors(mixture.experts(), layout.expert()));
      }
    }
    Check.that(
        layout.expert() == 1 || TransformerSizes.of(shape).hasMixtures(),
        "expert=%d, but the network has no experts; leave it out",
        layout.expert());
    int ranks = layout.tensor() * layout.context() * layout.data();
    long sharing = (long) layout.expert() * layout.expertTensor();
    Check.that(
        layout.expert() == 1 || ranks % sharing == 0,
        "expert=%d × expert_tensor=%d = %d do not divide the %d ranks of tensor × context × data; write degrees whose product is %s",
        layout.expert(),
        layout.expertTensor(),
        sharing,
        ranks,
        NearCounts.divisors(ranks, (int) Math.min(sharing, ranks)));
  }

  /** Why a pipeline's chunks cannot have equally many layers, unless they can. */
  public static Optional<String> unequal(TrainingLayout layout, TransformerShape shape) {
    int chunks = layout.pipeline() * layout.interleave();
    return shape.layers() % chunks == 0
        ? Optional.empty()
        : Optional.of(
            "pipeline=%d × interleave=%d = %d chunks do not divide layers=%d; write degrees whose product is %s, or state the layers of each stage"
                .formatted(
                    layout.pipeline(),
                    layout.interleave(),
                    chunks,
                    shape.layers(),
                    NearCounts.divisors(shape.layers(), chunks)));
  }

  /** With the usual gradients of the precision. */
  public RunChoices(
      TransformerShape shape,
      GpuMachine machine,
      Framework framework,
      TrainingLayout layout,
      Optional<StageSplit> split,
      TrainingPrecision precision,
      boolean fusedAttention,
      RecomputePolicy recompute,
      Optional<String> schedule,
      int offloadedLayers,
      double offloadedOptimizer) {
    this(
        shape,
        machine,
        framework,
        layout,
        split,
        precision,
        fusedAttention,
        recompute,
        schedule,
        offloadedLayers,
        offloadedOptimizer,
        OptionalInt.empty());
  }

  private NumberFormats formats() {
    NumberFormats usual = NumberFormats.mixed(precision, framework);
    return gradientBytes.isPresent() ? usual.withGradients(gradientBytes.getAsInt()) : usual;
  }

  /** The run; throws {@link IllegalArgumentException} where its parts do not go together. */
  public TransformerRun run() {
    StageSplit layers =
        split.orElseGet(() ->
            StageSplit.even(
                layout.pipeline(),
                layout.interleave(),
                shape.layers(),
                TransformerSizes.of(shape).predictions(),
                false,
                false));
    return new TransformerRun(
        padded(),
        machine,
        new SoftwareStack(framework, "", false, false, false),
        layout,
        layers,
        formats(),
        fusedAttention,
        recompute,
        Routing.PLAIN,
        new Offload(offloadedLayers, Set.of(), offloadedOptimizer),
        new Kept(
            !fusedAttention, !fusedAttention, framework.fusesLoss() ? 4 : 6, HALF_BYTES, true));
  }

  /** With a table of words that tensor-parallel ranks can share in equal parts. */
  private TransformerShape padded() {
    return shape.input() instanceof Words words
        ? shape.withInput(words.padded(layout.tensor()))
        : shape;
  }
}
