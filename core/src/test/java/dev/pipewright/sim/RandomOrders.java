package dev.pipewright.sim;

import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.RandomPrograms;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Execution;
import java.util.List;
import java.util.SplittableRandom;

/** Random schedules of passes alone, as tests of the simulators take them. */
final class RandomOrders {
  private RandomOrders() {}

  static Placement placement(SplittableRandom random) {
    return RandomPrograms.publishedPlacement(random);
  }

  static Schedule schedule(SplittableRandom random, Placement placement, int microBatches) {
    return RandomPrograms.of(random, placement, microBatches);
  }

  /** What has to be done before: of each entry one. */
  static List<List<Op>> needs(Op op, Placement placement) {
    return Execution.inputs(op, placement);
  }
}
