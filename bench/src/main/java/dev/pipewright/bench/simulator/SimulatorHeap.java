package dev.pipewright.bench.simulator;

import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.sim.Conditions.Transfers;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.ref.Reference;
import java.util.List;

/**
 * Simulates one pipeline in a process of its own and prints the megabytes of heap that it took at
 * most and holds in the end, and its seconds: {@code SimulatorHeap RANKS MICRO-BATCHES WHAT}.
 */
public final class SimulatorHeap {
  /** What it can do. */
  static final List<String> WHAT =
      List.of(
          "the schedule alone",
          "its check",
          "static",
          "static, memory of all ranks",
          "by event",
          "by event, ports shared by two",
          "by event, ports shared by eight");

  private SimulatorHeap() {}

  public static void main(String[] arguments) {
    long start = System.nanoTime();
    Pipeline pipeline =
        new Pipeline(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]));
    Object result = result(pipeline, arguments[2]);
    double seconds = (System.nanoTime() - start) / 1e9;
    double most =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .map(MemoryPoolMXBean::getPeakUsage)
            .mapToDouble(usage -> usage.getUsed())
            .sum();
    double left = left(pipeline, result);
    System.out.println(
        Numbers.fixed(most / 1e6, 0)
            + " "
            + Numbers.fixed(left / 1e6, 0)
            + " "
            + Numbers.significant(seconds));
  }

  /** Bytes of heap after a collection that spares these. */
  private static double left(Pipeline pipeline, Object result) {
    try {
      System.gc();
      return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    } finally {
      Reference.reachabilityFence(pipeline);
      Reference.reachabilityFence(result);
    }
  }

  private static Object result(Pipeline pipeline, String what) {
    return switch (WHAT.indexOf(what)) {
      case 0 -> pipeline.schedule();
      case 1 -> Validator.check(pipeline.schedule());
      case 2 -> pipeline.plain();
      case 3 -> pipeline.memory(pipeline.plain());
      case 4 -> pipeline.events(Transfers.DELAYED);
      case 5 -> pipeline.ports();
      case 6 -> pipeline.crowded();
      default -> throw new IllegalArgumentException("what=" + what);
    };
  }
}
