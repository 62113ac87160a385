package dev.pipewright.sim.memory;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * What one rank holds over time.
 *
 * @param parts a staircase for each category, also for those that stay empty
 * @param total all of them together
 */
public record RankMemory(int rank, Map<Category, Staircase> parts, Staircase total, Peak peak) {
  public RankMemory {
    parts = Collections.unmodifiableMap(new EnumMap<>(parts));
  }

  /**
   * The most that the rank holds.
   *
   * @param seconds when it first holds so much
   * @param parts what it is made of
   */
  public record Peak(double seconds, double bytes, Map<Category, Double> parts) {
    public Peak {
      parts = Collections.unmodifiableMap(new EnumMap<>(parts));
    }

    /** Bytes of a category when the rank holds most. */
    public double of(Category category) {
      return parts.getOrDefault(category, 0.0);
    }
  }

  /** Bytes of a category over time. */
  public Staircase of(Category category) {
    return parts.getOrDefault(category, new Staircase(new double[1], new double[1]));
  }
}
