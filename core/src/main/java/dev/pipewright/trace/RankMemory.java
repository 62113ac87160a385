package dev.pipewright.trace;

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
  /** What memory is for. */
  public enum Category {
    /** The newest parameters of every stage of a rank. */
    PARAMETERS(0),
    /** Older parameters, which micro-batches in flight still need for their backward passes. */
    STASHED_PARAMETERS(1),
    GRADIENTS(2),
    /** The optimizer's state. */
    OPTIMIZER(3),
    /** What forward passes keep for the backward passes. */
    ACTIVATIONS(4),
    /** Messages on their way or waiting, and the working space of backward passes. */
    BUFFERS(5);

    private final int code;

    Category(int code) {
      this.code = code;
    }

    /** A small number of its own, for arrays. */
    public int code() {
      return code;
    }
  }

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
