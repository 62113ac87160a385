package dev.pipewright.compare;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.List;

/**
 * Iterations of a pipeline whose passes were timed on every rank, and what a simulation of the
 * first one's order with the medians of all gives.
 *
 * @param iterations in order, at least one; all have the same passes
 */
public record MeasuredPipeline(List<Iteration> iterations) {
  /** How much longer than the median an iteration may take to count as undisturbed. */
  private static final double DISTURBED = 1.05;

  /**
   * One training step.
   *
   * @param number as the file has it
   * @param seconds that the framework measured, updates not included
   * @param schedule the passes in the order in which each rank ran them
   * @param starts in seconds from the step's begin, by rank and position in its program
   * @param ends likewise
   */
  public record Iteration(
      int number, double seconds, Schedule schedule, double[][] starts, double[][] ends) {
    /** What happened, from the first pass's begin. */
    public Run run() {
      double first = Arrays.stream(starts).flatMapToDouble(Arrays::stream).min().orElse(0);
      return Run.recorded(schedule, shifted(starts, first), shifted(ends, first));
    }

    /** From the begin of the first pass to the end of the last. */
    public double makespan() {
      return run().makespan();
    }

    private static double[][] shifted(double[][] times, double by) {
      return Arrays.stream(times)
          .map(rank -> Arrays.stream(rank).map(time -> time - by).toArray())
          .toArray(double[][]::new);
    }
  }

  public MeasuredPipeline {
    iterations = List.copyOf(iterations);
    Check.that(!iterations.isEmpty(), "a pipeline was measured in one iteration or more");
  }

  public Placement placement() {
    return iterations.get(0).schedule().placement();
  }

  /**
   * Those that nothing disturbed: without the first of several, which compiles, and without those
   * that took far longer than the median.
   */
  public List<Iteration> undisturbed() {
    List<Iteration> warm =
        iterations.size() == 1 ? iterations : iterations.subList(1, iterations.size());
    double[] makespans = warm.stream().mapToDouble(Iteration::makespan).sorted().toArray();
    double median = makespans[(makespans.length - 1) / 2];
    return warm.stream().filter(each -> each.makespan() <= DISTURBED * median).toList();
  }

  /** The undisturbed iteration with the median makespan. */
  public Iteration typical() {
    List<Iteration> sorted =
        undisturbed().stream()
            .sorted((a, b) -> Double.compare(a.makespan(), b.makespan()))
            .toList();
    return sorted.get((sorted.size() - 1) / 2);
  }

  /** Durations of passes and transfers, medians over the undisturbed iterations. */
  public PassMedians medians() {
    return PassMedians.of(undisturbed());
  }

  /** The typical iteration's order, simulated with the medians. */
  public Run simulated() {
    return StaticSimulator.run(typical().schedule(), medians().times());
  }
}
