package dev.pipewright.bench.reproduction;

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
public record Timing(double wall, double cpu) {
  public static final int REPETITIONS = 9;
  private static final double WARM_UP_SECONDS = 1.5;
  private static final int LEAST_WARM_UPS = 3;

  public static Timing of(Runnable work) {
    warm(work, LEAST_WARM_UPS, WARM_UP_SECONDS);
    return of(work, REPETITIONS);
  }

  /** Runs it a number of times at least, and for a time. */
  public static void warm(Runnable work, int least, double seconds) {
    long start = System.nanoTime();
    for (int i = 0; i < least || seconds(start) < seconds; i++) {
      work.run();
    }
  }

  /** Of something that is warm. */
  public static Timing of(Runnable work, int repetitions) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    double[] walls = new double[repetitions];
    double[] cpus = new double[repetitions];
    for (int i = 0; i < repetitions; i++) {
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
