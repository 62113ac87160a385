package dev.pipewright.bench.planners;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * How long a planner takes on one thread.
 *
 * @param first wall seconds of its first call in this process
 * @param wall seconds once it is warm: the least of several calls
 * @param cpu seconds of processor time of the thread, likewise
 */
record PlannerTiming(double first, double wall, double cpu) {
  private static final int LEAST_CALLS = 3;
  private static final int MOST_CALLS = 20_000;
  private static final double SECONDS = 1.5;
  private static final double LONG = 4; // seconds after which a call is not repeated

  /** A call, and more of them for a while. */
  static PlannerTiming of(Runnable work) {
    return of(work, SECONDS);
  }

  static PlannerTiming of(Runnable work, double seconds) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    double first = Double.NaN;
    double wall = Double.POSITIVE_INFINITY;
    double cpu = Double.POSITIVE_INFINITY;
    double spent = 0;
    for (int call = 0; !enough(call, spent, seconds); call++) {
      long begin = System.nanoTime();
      long beginCpu = threads.getCurrentThreadCpuTime();
      work.run();
      double now = (System.nanoTime() - begin) / 1e9;
      first = call == 0 ? now : first;
      wall = Math.min(wall, now);
      cpu = Math.min(cpu, (threads.getCurrentThreadCpuTime() - beginCpu) / 1e9);
      spent += now;
    }
    return new PlannerTiming(first, wall, cpu);
  }

  private static boolean enough(int calls, double spent, double seconds) {
    return spent > LONG
        ? calls >= 1
        : calls >= MOST_CALLS || (calls >= LEAST_CALLS && spent >= seconds);
  }
}
