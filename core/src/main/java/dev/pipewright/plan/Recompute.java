package dev.pipewright.plan;

/** Which activations a stage gives up after the forward pass and computes again. */
public enum Recompute {
  /** None. */
  NONE("none"),
  /** All but the stage's input: the backward pass begins with another forward pass. */
  STAGE_INPUT("stage-input"),
  /** Those of some runs of layers but their inputs; each run is computed again in its turn. */
  SELECTIVE("selective");

  private final String word;

  Recompute(String word) {
    this.word = word;
  }

  /** The word used in flags and plan files. */
  public String word() {
    return word;
  }
}
