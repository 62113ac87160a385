package dev.pipewright.profile;

import dev.pipewright.units.Check;

/**
 * What one layer needs while it computes, for one slice of a batch; bytes.
 *
 * @param forward the most that its forward pass takes up beyond all that layers up to this one keep
 *     for the backward pass; with the loss, where it is the network's last
 * @param backward the same of its backward pass. The gradient that comes in is part of it.
 * @param splitKept what the layer keeps where its backward pass comes in two parts
 * @param deferred what the second part needs of the first: gradients of its functions' outputs
 */
public record LayerMemory(double forward, double backward, double splitKept, double deferred) {
  public LayerMemory {
    Check.amount(forward, "forward working bytes");
    Check.amount(backward, "backward working bytes");
    Check.amount(splitKept, "split kept bytes");
    Check.amount(deferred, "deferred bytes");
  }

  /** As much in either pass. */
  public LayerMemory(double working, double splitKept, double deferred) {
    this(working, working, splitKept, deferred);
  }

  /** Of the pass that takes up more. */
  public double working() {
    return Math.max(forward, backward);
  }
}
