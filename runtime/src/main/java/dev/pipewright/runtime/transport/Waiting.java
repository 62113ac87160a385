package dev.pipewright.runtime.transport;

import java.util.function.IntSupplier;

/**
 * For which other worker this one is waiting: the thread that made it, which is the one that
 * computes. Other threads' waiting delays no computation.
 */
final class Waiting {
  /** For none. */
  static final int NONE = -1;

  private final Thread computing = Thread.currentThread();
  private volatile IntSupplier worker = () -> NONE;

  /** The calling thread begins to wait. */
  void begin(IntSupplier other) {
    if (Thread.currentThread().equals(computing)) {
      worker = other;
    }
  }

  /** It goes on. */
  void end() {
    begin(() -> NONE);
  }

  /** The other worker's number; asked by any thread. */
  int worker() {
    return worker.getAsInt();
  }
}
