package dev.pipewright.predict.transformer;

/**
 * Seconds of a step on the slowest pipeline rank, by phase; they add up to the step.
 *
 * @param layers forward and backward passes of the layers, by part, without recomputation
 * @param recomputation of layers in the backward pass
 * @param ends embedding, head and loss
 * @param offload exposed transfers to the host and back
 * @param bubble idle time of the pipeline's ends
 * @param transfers exposed transfers between pipeline ranks
 * @param sharding exposed exchange of fully sharded parameters and gradients
 * @param dataParallel exposed exchange of gradients
 * @param optimizer update of the parameters
 * @param stragglers waiting for the slowest of many nodes
 * @param fixed launch, logging and loss scale of a step
 */
public record TransformerPhases(
    PassSeconds layers,
    double recomputation,
    double ends,
    double offload,
    double bubble,
    double transfers,
    double sharding,
    double dataParallel,
    double optimizer,
    double stragglers,
    double fixed) {
  public double total() {
    return layers.total()
        + recomputation
        + ends
        + offload
        + bubble
        + transfers
        + sharding
        + dataParallel
        + optimizer
        + stragglers
        + fixed;
  }
}
