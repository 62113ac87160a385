package dev.pipewright.runtime.engine;

/**
 * The parameters of a stage as the passes of a worker need them, {@linkplain
 * dev.pipewright.exchange.Segment segment} by segment. All workers of the stage gather them in the
 * same order.
 */
interface StageParameters {
  Stage stage();

  /** Whether gradients of inputs and of parameters are computed apart. */
  default boolean inTwoParts() {
    return false;
  }

  /** A segment's parameters will be needed next; there may be no such segment. */
  default void ahead(int segment) {
    // they are here
  }

  /** Returns when a segment's parameters are here. */
  default void need(int segment) {
    // they are here
  }

  /** No pass computes with a segment's parameters until they are needed again. */
  default void leave(int segment) {
    // they stay
  }

  /** A backward pass has finished a segment. */
  default void left(int segment) {
    // the gradients are complete later
  }
}
