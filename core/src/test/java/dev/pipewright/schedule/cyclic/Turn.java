package dev.pipewright.schedule.cyclic;

import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.cyclic.Cyclic.Form;

/** Whose pass of a stage an op is: the worker, and the training step. */
record Turn(int stage, int worker, int step) {
  static Turn of(Form form, Op op, int workers) {
    int chain = op.stage() / workers;
    int stage = op.stage() % workers;
    return switch (form) {
      case RING, SINGLE, ZERO -> new Turn(stage, chain, op.microBatch());
      case PYRAMID -> new Turn(stage, chain % workers, chain / workers);
      case PIPELINE -> new Turn(stage, op.microBatch() % workers, op.microBatch() / workers);
    };
  }
}
