package dev.pipewright.schedule.catalog;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.search.OpTimes;
import java.util.Arrays;

/** Counts without durations and without a memory cap. */
record CountedInput(int stages, int microBatches, int chunks) implements ScheduleInput {
  @Override
  public int[] replicasOfStages() {
    int[] replicas = new int[stages];
    Arrays.fill(replicas, 1);
    return replicas;
  }

  @Override
  public OpTimes opTimes(Placement placement) {
    throw new IllegalStateException("the schedule needs durations");
  }

  @Override
  public double[] caps(int ranks) {
    double[] caps = new double[ranks];
    Arrays.fill(caps, Double.POSITIVE_INFINITY);
    return caps;
  }
}
