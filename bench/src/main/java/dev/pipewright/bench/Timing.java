package dev.pipewright.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/**
 * How long something takes on one thread once it is warm.
 *
 * @param wall seconds that pass: the median
 * @param cpu seconds of processor time of the thread: the median; below {@code wall} where others
 *     use the machine
 */
record Timing(double wall, double cpu) {
  static final int REPETITIONS = 9;
  private static final double WARM_UP_SECONDS = 1.5;
  private static final int LEAST_WARM_UPS = 3;

  static Timing of(Runnable work) {
    long start = System.nanoTime();
    for (int i = 0; i < LEAST_WARM_UPS || seconds(start) < WARM_UP_SECONDS; i++) {
      work.run();
    }
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    double[] walls = new double[REPETITIONS];
    double[] cpus = new double[REPETITIONS];
    for (int i = 0; i < REPETITIONS; i++) {
      long cpu = threads.getCurrentThreadCpuTime();
      long begin = System.nanoTime();
      work.run();
      walls[i] = seconds(begin);
      cpus[i] = (threads.getCurrentThreadCpuTime() - cpu) / 1e9;
    }
    return new Timing(median(walls), median(cpus));
  }

  private static double seconds(long since) {
    return (System.nanoTime() - since) / 1e9;
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }
}
