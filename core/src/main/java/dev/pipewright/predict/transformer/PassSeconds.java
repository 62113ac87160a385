package dev.pipewright.predict.transformer;

/**
 * Seconds of a layer's pass for one micro-batch, by part.
 *
 * @param products matrix products, with the accumulation of experts' weight gradients
 * @param attention scores and their products
 * @param elementwise norms, activations, residual sums, permutations
 * @param casts to 8 or 4 bits
 * @param tensorParallel exposed collectives of tensor parallelism
 * @param contextParallel exposed exchange of keys and values
 * @param allToAll exposed exchange of tokens between experts
 * @param launch what the host adds where it issues kernels more slowly than they run
 */
public record PassSeconds(
    double products,
    double attention,
    double elementwise,
    double casts,
    double tensorParallel,
    double contextParallel,
    double allToAll,
    double launch) {
  static final PassSeconds NONE = new PassSeconds(0, 0, 0, 0, 0, 0, 0, 0);

  public double total() {
    return products
        + attention
        + elementwise
        + casts
        + tensorParallel
        + contextParallel
        + allToAll
        + launch;
  }

  PassSeconds plus(PassSeconds that) {
    return new PassSeconds(
        products + that.products,
        attention + that.attention,
        elementwise + that.elementwise,
        casts + that.casts,
        tensorParallel + that.tensorParallel,
        contextParallel + that.contextParallel,
        allToAll + that.allToAll,
        launch + that.launch);
  }

  PassSeconds times(double factor) {
    return new PassSeconds(
        products * factor,
        attention * factor,
        elementwise * factor,
        casts * factor,
        tensorParallel * factor,
        contextParallel * factor,
        allToAll * factor,
        launch * factor);
  }

  PassSeconds withLaunch(double seconds) {
    return new PassSeconds(
        products,
        attention,
        elementwise,
        casts,
        tensorParallel,
        contextParallel,
        allToAll,
        seconds);
  }
}
