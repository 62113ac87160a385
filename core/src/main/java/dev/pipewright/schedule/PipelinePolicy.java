package dev.pipewright.schedule;

import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.Optional;

/** How many forward passes a stage runs before its first backward pass (DAPPLE §V-C). */
public enum PipelinePolicy implements ScheduleSpec {
  A("1f1b"),
  B("1f1b-b"),
  /** All of them: GPipe. */
  ALL("gpipe");

  private final String scheduleName;

  PipelinePolicy(String scheduleName) {
    this.scheduleName = scheduleName;
  }

  /** The policy of a schedule's name; empty where it is another schedule. */
  public static Optional<PipelinePolicy> find(String scheduleName) {
    return Arrays.stream(values())
        .filter(policy -> policy.scheduleName.equals(scheduleName))
        .findFirst();
  }

  @Override
  public String scheduleName() {
    return scheduleName;
  }

  /** Stage {@code i} on rank {@code i}. */
  @Override
  public Placement placement(int stages) {
    return Placement.straight(stages);
  }

  /**
   * Micro-batches in flight of the stage that {@code fromEnd} stages follow, without a memory
   * limit.
   */
  public int inFlightOf(int fromEnd, int microBatches) {
    long wanted =
        switch (this) {
          case A -> fromEnd + 1;
          case B -> 2L * fromEnd + 1;
          case ALL -> microBatches;
        };
    return (int) Math.min(wanted, microBatches);
  }

  @Override
  public int[] inFlight(int stages, int microBatches) {
    int[] inFlight = new int[stages];
    for (int stage = 0; stage < stages; stage++) {
      inFlight[stage] = inFlightOf(stages - 1 - stage, microBatches);
    }
    return inFlight;
  }

  @Override
  public void check(int microBatches, int[] inFlight) {
    for (int held : inFlight) {
      Check.that(
          this != ALL || held == microBatches,
          "gpipe holds all micro-batches at once: in_flight=%d, micro_batches=%d",
          held,
          microBatches);
    }
  }

  @Override
  public boolean splitsBackward() {
    return false;
  }

  @Override
  public Schedule schedule(int microBatches, int[] inFlight) {
    return this == ALL
        ? GPipe.of(inFlight.length, microBatches)
        : OneForwardOneBackward.of(microBatches, inFlight);
  }
}
