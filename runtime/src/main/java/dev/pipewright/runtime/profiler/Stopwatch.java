package dev.pipewright.runtime.profiler;

import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.runtime.training.ProcessMemory;
import java.util.function.LongSupplier;

/** Runs a piece of work and returns its time. */
interface Stopwatch {
  double of(Runnable work);

  /**
   * Seconds.
   *
   * @param clock nanoseconds
   */
  static Stopwatch seconds(LongSupplier clock) {
    return work -> {
      long begin = clock.getAsLong();
      work.run();
      return (clock.getAsLong() - begin) / 1e9;
    };
  }

  /**
   * Bytes that it needed more at some time than were in use before. True in a process that returns
   * freed memory at once; within about half a megabyte, as the system counts no better.
   */
  static Stopwatch bytes() {
    return work -> {
      Torch.giveBack();
      ProcessMemory.forgetPeak();
      long before = ProcessMemory.now();
      work.run();
      return (double) Math.max(0, ProcessMemory.peak() - before);
    };
  }
}
