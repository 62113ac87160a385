package dev.pipewright.predict.pipeline;

import dev.pipewright.predict.transformer.PipelineParts;
import dev.pipewright.predict.transformer.PipelineParts.Part;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TransformerRun;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.search.OpTimes;
import java.util.Arrays;
import java.util.List;

/**
 * A lower bound of the seconds in which a schedule runs the passes of a step, whatever its order.
 *
 * <p>A rank computes all its micro-batches. Before its first op, the first micro-batch has passed
 * all chunks before the rank's first one. Where backward passes are not split, its last op is a
 * backward pass of that chunk or a later one, after which the same micro-batch's backward passes of
 * all chunks before it remain; where they are split, its last op may be a gradient of weights, for
 * which nothing waits. The largest sum of these over the ranks is a lower bound.
 *
 * @param entry a pipeline that flushes and holds one copy of the network
 * @param looped whether chunks lie on ranks round and round, or there and back
 * @param split whether its backward passes come in two parts
 */
record PassBound(ScheduleEntry entry, boolean looped, boolean split) {
  private static final int RANKS = 2; // of a pipeline that shows of which kind a schedule is
  private static final int MICRO_BATCHES = 8;

  /** Of all schedules that transformers' layouts can run. */
  static List<PassBound> all() {
    return ScheduleCatalog.entries().stream()
        .filter(ScheduleEntry::isSynchronousPipeline)
        .map(PassBound::small)
        .filter(small -> small.schedule.placement().chains() == 1)
        .map(Small::bound)
        .toList();
  }

  private record Small(ScheduleEntry entry, Schedule schedule) {
    PassBound bound() {
      boolean looped = schedule.placement().equals(Placement.looped(RANKS, entry.chunks()));
      boolean split = false;
      for (int rank = 0; rank < RANKS; rank++) {
        split |=
            schedule.program(rank).stream().anyMatch(op -> op.pass() == Op.Pass.BACKWARD_WEIGHT);
      }
      return new PassBound(entry, looped, split);
    }
  }

  private static Small small(ScheduleEntry entry) {
    int chunks = entry.chunks();
    double[] even = new double[RANKS * chunks];
    Arrays.fill(even, 1);
    TrainingLayout layout =
        new TrainingLayout(1, RANKS, 1, 1, chunks, 1, 1, 0, 1, false, false, MICRO_BATCHES, 1);
    return new Small(entry, entry.make(new PassDurations(layout, OpTimes.of(even, even, even, 0))));
  }

  /** The run with its chunks where the schedule has them. */
  TransformerRun placed(TransformerRun run) {
    return looped ? run : run.with(run.layout(), run.split().inWaves(), run.recompute());
  }

  /** The bound, for the parts of a run that is placed so. */
  double seconds(TrainingLayout layout, PipelineParts parts) {
    int ranks = layout.pipeline();
    int chunks = layout.interleave();
    Placement placement = looped ? Placement.looped(ranks, chunks) : Placement.waves(ranks, chunks);
    double[] busy = new double[ranks];
    double[] around = new double[ranks]; // before the first op and after the last
    boolean[] seen = new boolean[ranks];
    double before = 0;
    for (int chunk = 0; chunk < ranks * chunks; chunk++) {
      int rank = placement.rankOf(chunk);
      Part part = parts.chunks().get(chunk);
      double backward = part.input() + part.weight();
      around[rank] = seen[rank] ? around[rank] : before;
      seen[rank] = true;
      before += part.forward() + (split ? 0 : backward);
      busy[rank] += part.forward() + backward;
    }
    double most = 0;
    for (int rank = 0; rank < ranks; rank++) {
      most = Math.max(most, around[rank] + layout.microBatches() * busy[rank]);
    }
    return most;
  }
}
