package dev.pipewright.model;

import dev.pipewright.units.Check;

/**
 * The arithmetic of one layer for one sample, in FLOP (a multiply-add is two), and the elements
 * that its forward pass reads and writes (what a memory-bound layer is limited by).
 *
 * @param forward the forward pass
 * @param inputGradient the part of the backward pass that earlier layers wait for
 * @param weightGradient the part that only the update waits for
 * @param forwardElements elements moved to and from memory by the forward pass, weights excluded
 */
public record Work(
    double forward, double inputGradient, double weightGradient, double forwardElements) {
  public static final Work NONE = new Work(0, 0, 0, 0);

  public Work {
    Check.amount(forward, "forward FLOP");
    Check.amount(inputGradient, "input-gradient FLOP");
    Check.amount(weightGradient, "weight-gradient FLOP");
    Check.amount(forwardElements, "moved elements");
  }

  public Work plus(Work that) {
    return new Work(
        forward + that.forward,
        inputGradient + that.inputGradient,
        weightGradient + that.weightGradient,
        forwardElements + that.forwardElements);
  }
}
