package dev.pipewright.runtime.profiler;

import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/** Clocks of a worker, in nanoseconds. */
final class Clocks {
  private Clocks() {}

  /**
   * A clock for one thread.
   *
   * @param processorTime whether it stands still while other programs run
   */
  static LongSupplier of(boolean processorTime) {
    return processorTime
        ? ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime
        : System::nanoTime;
  }
}
