package dev.pipewright.planner;

import dev.pipewright.planner.Planning.Candidate;
import java.util.function.ToDoubleFunction;

/** What a planner makes as small as it can. */
public enum Objective {
  /** Seconds of a training step. */
  STEP_TIME("step_s", Candidate::seconds),
  /** Bytes of the fullest device. */
  PEAK_MEMORY("peak_bytes", Candidate::peakBytes);

  private final String key;
  private final ToDoubleFunction<Candidate> value;

  Objective(String key, ToDoubleFunction<Candidate> value) {
    this.key = key;
    this.value = value;
  }

  /** The name in answers. */
  public String key() {
    return key;
  }

  /** Of a plan: what was decided by. */
  public double of(Candidate candidate) {
    return value.applyAsDouble(candidate);
  }
}
