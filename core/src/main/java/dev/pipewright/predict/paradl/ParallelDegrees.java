package dev.pipewright.predict.paradl;

import dev.pipewright.plan.Recompute;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.OptionalInt;

/**
 * What the user fixes of the strategies that are priced as plans; what is left open is tried.
 *
 * @param tensor devices that divide each transformer block
 * @param pipeline stages
 * @param data copies of the network
 * @param microBatch samples of a micro-batch of each copy
 * @param schedule of pipelines
 * @param recompute the ways to recompute activations that are tried, {@link Recompute#SELECTIVE}
 *     where every layer keeps its input alone
 */
public record ParallelDegrees(
    OptionalInt tensor,
    OptionalInt pipeline,
    OptionalInt data,
    OptionalInt microBatch,
    PipelineSchedule schedule,
    List<Recompute> recompute) {
  /** All is open, pipelines run 1F1B, and nothing is recomputed. */
  public static final ParallelDegrees OPEN =
      new ParallelDegrees(
          OptionalInt.empty(),
          OptionalInt.empty(),
          OptionalInt.empty(),
          OptionalInt.empty(),
          PipelineSchedule.of(PipelinePolicy.A),
          List.of(Recompute.NONE));

  public ParallelDegrees {
    recompute = List.copyOf(recompute);
    tensor.ifPresent(n -> Check.that(n >= 1, "a degree is >= 1: tensor=%d", n));
    pipeline.ifPresent(n -> Check.that(n >= 1, "a degree is >= 1: pipeline=%d", n));
    data.ifPresent(n -> Check.that(n >= 1, "a degree is >= 1: data=%d", n));
    microBatch.ifPresent(n -> Check.that(n >= 1, "a micro-batch has samples: samples=%d", n));
    Check.that(!recompute.isEmpty(), "a way to recompute is needed: recompute=%s", recompute);
  }
}
