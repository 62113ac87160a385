package dev.pipewright.planner.reasons;

/** What the rank that computes longest does in a step. */
public enum StepPart {
  /** Forward and backward passes, with the collectives within their layers. */
  COMPUTE("compute", "computes"),
  /** Forward passes that run again since their activations were not kept. */
  RECOMPUTATION("recomputation", "recomputes"),
  /** Waiting for other ranks and for messages between stages. */
  WAITING("waiting", "waits for other stages"),
  /** Sums of gradients that no backward pass hides. */
  GRADIENTS("gradients", "sums gradients"),
  /** The optimizer's step. */
  UPDATE("update", "updates parameters");

  private final String key;
  private final String verb;

  StepPart(String key, String verb) {
    this.key = key;
    this.verb = verb;
  }

  /** The word of files. */
  public String key() {
    return key;
  }

  /** What its busiest rank does, in the third person. */
  String verb() {
    return verb;
  }
}
