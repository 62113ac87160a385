package dev.pipewright.planner.recompute;

/**
 * One op on a layer.
 *
 * @param layer its number in the chain
 */
public record Step(Kind kind, int layer) {
  /** What is done. */
  public enum Kind {
    /** A forward pass that keeps all that the backward pass needs, its output included. */
    KEEP,
    /** A forward pass that keeps its input, to run again from there, and its output. */
    CHECKPOINT,
    /** A forward pass that keeps its output alone. */
    PASS,
    /** The backward pass, after which nothing of the layer is left. */
    BACKWARD
  }

  @Override
  public String toString() {
    return kind.name().charAt(0) + Integer.toString(layer);
  }
}
