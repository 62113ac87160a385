package dev.pipewright.cost;

/**
 * What a stage's parameters, their gradients and what the update rule remembers of them take up on
 * a worker while a step's passes run; bytes. Layers are counted in the order of the stage, passes
 * as far as they give gradients.
 */
public interface StateBytes {
  /** When a step begins. */
  double resting();

  /** Beyond that, between ops. */
  double between(int passed);

  /** Beyond {@link #resting}, while a layer computes forward. */
  double forward(int layer, int passed);

  /** Beyond {@link #resting}, while a layer's gradients are computed. */
  double backward(int layer, int passed);

  /** The same where only those of inputs are. */
  double inputPart(int layer, int passed);

  /**
   * Beyond {@link #resting}, when the pass has just left a layer, of which nothing is kept any
   * more; −∞ where nothing happens then.
   */
  double leaving(int layer, int passed);

  /** The most beyond {@link #resting} after the last pass. */
  double ending();
}
