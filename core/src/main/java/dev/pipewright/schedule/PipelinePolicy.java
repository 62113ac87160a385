package dev.pipewright.schedule;

/** How many forward passes a stage runs before its first backward pass (DAPPLE §V-C). */
public enum PipelinePolicy {
  A("1f1b"),
  B("1f1b-b"),
  /** All of them: GPipe. */
  ALL("gpipe");

  private final String schedule;

  PipelinePolicy(String schedule) {
    this.schedule = schedule;
  }

  /** The schedule's name on the command line and in plan files. */
  public String schedule() {
    return schedule;
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

  /** Micro-batches in flight of every stage, without a memory limit. */
  public int[] inFlight(int stages, int microBatches) {
    int[] inFlight = new int[stages];
    for (int stage = 0; stage < stages; stage++) {
      inFlight[stage] = inFlightOf(stages - 1 - stage, microBatches);
    }
    return inFlight;
  }

  /** The schedule itself, stage {@code i} holding at most {@code inFlight[i]} micro-batches. */
  public Schedule schedule(int microBatches, int[] inFlight) {
    return this == ALL
        ? GPipe.of(inFlight.length, microBatches)
        : OneForwardOneBackward.of(microBatches, inFlight);
  }
}
