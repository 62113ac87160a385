package dev.pipewright.planner;

import dev.pipewright.planner.Planning.Candidate;

/** What a planner makes as small as it can. */
public enum Objective {
  /** Seconds of a training step. */
  STEP_TIME("step_s"),
  /** Bytes of the fullest device. */
  PEAK_MEMORY("peak_bytes");

  private final String key;

  Objective(String key) {
    this.key = key;
  }

  /** The name in answers. */
  public String key() {
    return key;
  }

  /** Of a plan: what was decided by. */
  public double of(Candidate candidate) {
    return switch (this) {
      case STEP_TIME -> candidate.seconds();
      case PEAK_MEMORY -> candidate.peakBytes();
    };
  }
}
