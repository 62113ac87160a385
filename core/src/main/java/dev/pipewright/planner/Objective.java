package dev.pipewright.planner;

import dev.pipewright.planner.Planning.Candidate;
import java.util.Arrays;
import java.util.Optional;

/** What a planner makes as small as it can. */
public enum Objective {
  /** Seconds of a training step. */
  STEP_TIME("time", "step_s"),
  /** Bytes of the fullest device. */
  PEAK_MEMORY("memory", "peak_bytes"),
  /** Seconds of a mini-batch in the steady state of a pipeline without flushes. */
  THROUGHPUT("throughput", "minibatch_s"),
  /**
   * Seconds of a training step times the devices that it takes: what a step costs where all devices
   * have one price, and the inverse of the samples per second and device.
   */
  COST("cost", "device_s"),
  /** Seconds that 95 of 100 training steps do not exceed whose durations vary at random. */
  P95("p95", "p95_step_s");

  private final String word;
  private final String key;

  Objective(String word, String key) {
    this.word = word;
    this.key = key;
  }

  /** The name on the command line. */
  public String word() {
    return word;
  }

  /** The name in answers. */
  public String key() {
    return key;
  }

  /** The objective of a word; empty where there is none. */
  public static Optional<Objective> find(String word) {
    return Arrays.stream(values()).filter(each -> each.word.equals(word)).findFirst();
  }

  /** Of a plan: what was decided by. */
  public double of(Candidate candidate) {
    return switch (this) {
      case STEP_TIME, THROUGHPUT -> candidate.seconds();
      case PEAK_MEMORY -> candidate.peakBytes();
      case COST -> candidate.plan().devices() * candidate.seconds();
      case P95 -> candidate.p95().orElse(Double.POSITIVE_INFINITY);
    };
  }
}
