package dev.pipewright.plan;

/** Which activations a stage gives up after the forward pass and computes again. */
public enum Recompute {
  /** None. */
  NONE("none"),
  /** All but the stage's input: the backward pass begins with another forward pass. */
  STAGE_INPUT("stage-input"),
  /**
   * The same, but for the last micro-batch of a step, which keeps all: its backward pass follows
   * soon.
   *
   * <p>Paper: C. Kim et al., <i>torchgpipe: On-the-fly Pipeline Parallelism for Training Giant
   * Models</i>, 2020, arXiv:2004.09910, §3.2.3; its mode {@code except_last}.
   */
  EXCEPT_LAST("except-last"),
  /** Those of some runs of layers but their inputs; each run is computed again in its turn. */
  SELECTIVE("selective");

  private final String word;

  Recompute(String word) {
    this.word = word;
  }

  /** How a micro-batch of a step of so many is treated: as a whole or, of some, in part. */
  public Recompute of(int microBatch, int microBatches) {
    return this == EXCEPT_LAST ? microBatch < microBatches - 1 ? STAGE_INPUT : NONE : this;
  }

  /** Whether micro-batches give up all but the stage's input. */
  public boolean wholeStage() {
    return this == STAGE_INPUT || this == EXCEPT_LAST;
  }

  /** The word used in flags and plan files. */
  public String word() {
    return word;
  }
}
