package dev.pipewright.predict.paradl;

/**
 * Bytes that the fullest device holds at its peak.
 *
 * @param weights weights and their copies
 * @param gradients of the weights
 * @param optimizer what the update rule keeps
 * @param activations kept for the backward pass, with the gradients that live at the peak
 * @param buffers gathered and exchanged tensors that no serial run needs
 */
public record MemoryUse(
    double weights, double gradients, double optimizer, double activations, double buffers) {
  public double total() {
    return weights + gradients + optimizer + activations + buffers;
  }

  /** All of it times a factor: ParaDL's memory reuse γ. */
  public MemoryUse times(double factor) {
    return new MemoryUse(
        weights * factor,
        gradients * factor,
        optimizer * factor,
        activations * factor,
        buffers * factor);
  }
}
