package dev.pipewright.schedule.catalog;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.schedule.search.ScheduleSearch;
import dev.pipewright.schedule.search.SearchDepth;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/** What a schedule is made for. */
public interface ScheduleInput {
  /** Ranks of the pipeline, or workers of data parallelism. */
  int stages();

  /** Micro-batches of all directions. */
  int microBatches();

  /** Stages of the network on each rank. */
  int chunks();

  /** Ranks that take each stage's micro-batches in turn. */
  int[] replicasOfStages();

  /** Seconds of the ops of every stage of a placement. */
  OpTimes opTimes(Placement placement);

  /** The most activations that each rank may hold, in micro-batches of its share; or infinite. */
  double[] caps(int ranks);

  /**
   * For schedules that depend on counts alone; asked for durations it throws {@link
   * IllegalStateException}.
   */
  static ScheduleInput counts(int stages, int microBatches, int chunks) {
    return new CountedInput(stages, microBatches, chunks);
  }

  /**
   * A schedule that takes a search; an input that asks for many may remember them, and not go as
   * far.
   *
   * @param key all that it depends on
   */
  default Schedule searched(List<Object> key, Supplier<ScheduleSearch> search) {
    return search.get().found(SearchDepth.FULL);
  }

  /** Micro-batches after which replicas of all stages have had the same number of turns. */
  default int round() {
    long round = 1;
    for (int replicas : replicasOfStages()) {
      long a = round;
      long b = replicas;
      while (b != 0) {
        long rest = a % b;
        a = b;
        b = rest;
      }
      round = round / a * replicas;
    }
    return Math.toIntExact(round);
  }

  /** What each stage costs a micro-batch, for patterns that repeat. */
  default List<StageLoad> stageLoads() {
    OpTimes each = opTimes(Placement.straight(stages()));
    List<StageLoad> loads = new ArrayList<>();
    for (int stage = 0; stage < stages(); stage++) {
      double backward = each.input()[stage] + each.weight()[stage];
      loads.add(new StageLoad(each.forward()[stage], backward, 0, 1));
    }
    return loads;
  }

  /** Seconds of a transfer over each cut between stages. */
  default double[] cuts() {
    return Arrays.copyOf(opTimes(Placement.straight(stages())).there(), stages() - 1);
  }

  /** The cap of each stage's rank in activations of one chunk, at most {@code otherwise}. */
  default int[] chunkCaps(int otherwise) {
    return Arrays.stream(caps(stages()))
        .mapToInt(cap -> (int) Math.min(otherwise, Math.floor(cap * chunks())))
        .toArray();
  }

  /** The least of them. */
  default int chunkCap(int otherwise) {
    return Arrays.stream(chunkCaps(otherwise)).min().orElse(otherwise);
  }
}
