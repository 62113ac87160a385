package dev.pipewright.sim.memory;

/** What memory is for. */
public enum Category {
  /** The newest parameters of every stage of a rank. */
  PARAMETERS(0),
  /** Older parameters, which micro-batches in flight still need for their backward passes. */
  STASHED_PARAMETERS(1),
  GRADIENTS(2),
  /** The optimizer's state. */
  OPTIMIZER(3),
  /** What forward passes keep for the backward passes. */
  ACTIVATIONS(4),
  /** Messages on their way or waiting, and the working space of backward passes. */
  BUFFERS(5);

  private final int code;

  Category(int code) {
    this.code = code;
  }

  /** A small number of its own, for arrays. */
  int code() {
    return code;
  }
}
