package dev.pipewright.sim;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * How long a step takes when durations differ from op to op: many runs, each with its own chances.
 * The same jitter gives the same runs.
 *
 * @param seconds the makespans, ascending
 */
public record MonteCarlo(double[] seconds) {
  /**
   * Runs a schedule so many times, each with chances of its own that follow from the jitter's seed.
   */
  public static MonteCarlo of(
      Schedule schedule, OpTimes times, Conditions conditions, Jitter jitter, int runs) {
    Check.that(runs >= 1, "there is at least one run: runs=%d", runs);
    double[] seconds = new double[runs];
    for (int i = 0; i < runs; i++) {
      Conditions one = conditions.withJitter(jitter.ofRun(i));
      seconds[i] = EitherSimulator.run(schedule, times, one).makespan();
    }
    Arrays.sort(seconds);
    return new MonteCarlo(seconds);
  }

  /**
   * The makespan that a share of the runs does not exceed: the least of those for which that holds.
   *
   * @param share above 0, at most 1: 0.5 for the median, 0.95 for p95
   */
  public double quantile(double share) {
    Check.that(share > 0 && share <= 1, "a quantile's share is in (0, 1]: share=%s", share);
    return seconds[(int) Math.ceil(share * seconds.length) - 1];
  }

  public double median() {
    return quantile(0.5);
  }

  public double mean() {
    return Arrays.stream(seconds).average().orElseThrow();
  }
}
