package dev.pipewright.profile;

import dev.pipewright.units.Check;

/**
 * What one layer needs while it computes, for one slice of a batch; bytes.
 *
 * @param working the most that one of its passes takes up beyond all that layers up to this one
 *     keep for the backward pass. The gradient that comes in is part of it.
 * @param splitKept what the layer keeps where its backward pass comes in two parts
 * @param deferred what the second part needs of the first: gradients of its functions' outputs
 */
public record LayerMemory(double working, double splitKept, double deferred) {
  public LayerMemory {
    Check.amount(working, "working bytes");
    Check.amount(splitKept, "split kept bytes");
    Check.amount(deferred, "deferred bytes");
  }
}
