package dev.pipewright.predict.pipeline;

import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.catalog.ScheduleInput;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.units.Check;
import java.util.Arrays;

/** A pipeline of known durations, without a limit of memory. */
record PassDurations(TrainingLayout layout, OpTimes times) implements ScheduleInput {
  @Override
  public int stages() {
    return layout.pipeline();
  }

  @Override
  public int microBatches() {
    return layout.microBatches();
  }

  @Override
  public int chunks() {
    return layout.interleave();
  }

  @Override
  public int[] replicasOfStages() {
    int[] replicas = new int[stages()];
    Arrays.fill(replicas, 1);
    return replicas;
  }

  @Override
  public OpTimes opTimes(Placement placement) {
    Check.that(
        placement.stages() == times.stages(),
        "interleave=%d gives %d chunks, and the schedule has %d; write its own number",
        layout.interleave(),
        times.stages(),
        placement.stages());
    return times;
  }

  @Override
  public double[] caps(int ranks) {
    double[] caps = new double[ranks];
    Arrays.fill(caps, Double.POSITIVE_INFINITY);
    return caps;
  }
}
