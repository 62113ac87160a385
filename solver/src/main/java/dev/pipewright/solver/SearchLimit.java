package dev.pipewright.solver;

import dev.pipewright.units.Check;

/**
 * When a search gives up.
 *
 * @param seconds by the clock
 * @param work by CP-SAT's own count of its steps, about a second each: searches that this ends, or
 *     that end by themselves, give the same answer every time and everywhere
 */
public record SearchLimit(double seconds, double work) {
  public SearchLimit {
    Check.positive(seconds, "seconds");
    Check.positive(work, "work");
  }

  /** So much work, and the clock only where the machine takes ten times as long. */
  public static SearchLimit ofWork(double work) {
    return new SearchLimit(10 * work, work);
  }

  /** What is left of the work, by the clock as well; hardly anything where all is used up. */
  SearchLimit less(double usedSeconds, double usedWork) {
    return new SearchLimit(Math.max(1e-3, seconds - usedSeconds), Math.max(1e-3, work - usedWork));
  }
}
