package dev.pipewright.predict.pipeline;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.PipelineParts;
import dev.pipewright.predict.transformer.PipelineParts.Part;
import dev.pipewright.predict.transformer.PredictedRun;
import dev.pipewright.predict.transformer.ScheduledPasses;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerRun;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.sim.memory.RunMemory;
import dev.pipewright.sim.memory.StageBytes;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * Predicts a transformer's step under any pipeline of the catalogue that flushes. The simulator
 * gives the bubble and the activations in flight; all else is the oracle's. Transfers are priced as
 * those of 1F1B, so the simulated ones take no time; activations wait for the gradient of the
 * weights.
 */
public final class ScheduledTransformer {
  private ScheduledTransformer() {}

  /**
   * The run and its step; chunks lie on ranks as the schedule places them.
   *
   * @throws IllegalArgumentException where the schedule does not go with the pipeline's ranks,
   *     chunks or micro-batches, holds several copies of the network, or never flushes
   */
  public static PredictedRun predict(
      TransformerRun run, ScheduleEntry entry, CalibratedConstants constants) {
    return predict(run, entry, constants, Double.POSITIVE_INFINITY).orElseThrow();
  }

  /** The same where the step takes no more than {@code most} seconds; empty otherwise. */
  static Optional<PredictedRun> predict(
      TransformerRun run, ScheduleEntry entry, CalibratedConstants constants, double most) {
    Check.that(
        entry.isSynchronousPipeline(),
        "schedule=%s never flushes, and the step of a transformer ends with a flush; write 1f1b or zb-h1",
        entry.name());
    OpTimes times = times(PipelineParts.of(run, constants));
    Schedule schedule = entry.make(new PassDurations(run.layout(), times));
    Placement placement = schedule.placement();
    Check.that(
        placement.chains() == 1,
        "schedule=%s holds two copies of every stage, which transformers' layouts do not; write dualpipev or zb-v",
        entry.name());
    Check.that(
        placement.depth() == run.split().chunks().size(),
        "schedule=%s has %d stages on each rank, not interleave=%d; write as many",
        entry.name(),
        placement.depth() / placement.ranks(),
        run.layout().interleave());
    boolean looped =
        placement.equals(Placement.looped(placement.ranks(), run.layout().interleave()));
    TransformerRun placed =
        looped ? run : run.with(run.layout(), run.split().inWaves(), run.recompute());
    PipelineParts parts = PipelineParts.of(placed, constants);
    Run passes = StaticSimulator.run(schedule, times(parts));
    return TransformerOracle.seconds(placed, constants, passes.makespan()) > most
        ? Optional.empty()
        : Optional.of(
            new PredictedRun(
                placed, TransformerOracle.predict(placed, constants, passes(passes, parts))));
  }

  /** Simulates the passes of a step. */
  static ScheduledPasses passes(Schedule schedule, PipelineParts parts) {
    return passes(StaticSimulator.run(schedule, times(parts)), parts);
  }

  private static ScheduledPasses passes(Run run, PipelineParts parts) {
    List<StageBytes> bytes =
        parts.chunks().stream().map(part -> StageBytes.activations(part.bytes())).toList();
    return new ScheduledPasses(
        run.makespan(),
        RunMemory.of(run, bytes).stream().map(memory -> memory.peak().bytes()).toList());
  }

  private static OpTimes times(PipelineParts parts) {
    return OpTimes.of(
        seconds(parts, Part::forward),
        seconds(parts, Part::input),
        seconds(parts, Part::weight),
        0);
  }

  private static double[] seconds(PipelineParts parts, ToDoubleFunction<Part> seconds) {
    return parts.chunks().stream().mapToDouble(seconds).toArray();
  }
}
