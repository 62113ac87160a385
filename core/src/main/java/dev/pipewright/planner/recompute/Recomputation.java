package dev.pipewright.planner.recompute;

import dev.pipewright.plan.Recompute;
import dev.pipewright.units.Check;

/** How planners may recompute: which activations a stage gives up after its forward pass. */
public enum Recomputation {
  NEVER,
  /** All of every stage, which holds its input alone. */
  ALWAYS,
  /** Of any layers, no more than memory demands. */
  SELECTIVE,
  /** Of whole stages, where memory demands it. */
  WHERE_NEEDED,
  /** Of whole stages, always, but for the last micro-batch of a step. */
  ALWAYS_EXCEPT_LAST;

  /** Whether stages recompute even where memory would suffice. */
  public boolean always() {
    return this == ALWAYS || this == ALWAYS_EXCEPT_LAST;
  }

  /**
   * The rule for planners that choose layer by layer: they may also take whole stages, so {@link
   * #WHERE_NEEDED} is {@link #SELECTIVE}. Throws what {@link #checkOfLayers} throws.
   */
  public Recomputation ofLayers() {
    checkOfLayers();
    return this == WHERE_NEEDED ? SELECTIVE : this;
  }

  /**
   * Refuses what planners that choose layer by layer cannot follow, as {@link
   * IllegalArgumentException}: they treat all micro-batches alike.
   */
  public void checkOfLayers() {
    Check.that(
        this != ALWAYS_EXCEPT_LAST,
        "%s is for synchronous data and pipeline parallelism, whose steps have a last micro-batch",
        Recompute.EXCEPT_LAST.word());
  }

  /** How a stage recomputes as a whole. */
  public Recompute ofStage() {
    return this == ALWAYS_EXCEPT_LAST ? Recompute.EXCEPT_LAST : Recompute.STAGE_INPUT;
  }

  /**
   * The bytes that a stage needs in addition to the inputs that it holds.
   *
   * @param bytes of a micro-batch that is recomputed
   * @param inFlight micro-batches that it holds: where there are others, the last one keeps its own
   */
  public double beyondInputs(double bytes, int inFlight) {
    return this == ALWAYS_EXCEPT_LAST && inFlight > 1 ? 2 * bytes : bytes;
  }
}
