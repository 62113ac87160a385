package dev.pipewright.runtime.transport;

import java.util.function.IntSupplier;

/**
 * The worker that this one is waiting for: its computing thread, which made this object. Other
 * threads' waiting delays no computation.
 */
final class Waiting {
  /** Waiting for no worker. */
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
