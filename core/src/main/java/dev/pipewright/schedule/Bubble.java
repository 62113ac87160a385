package dev.pipewright.schedule;

/**
 * The closed form of a schedule's bubble: the longest span from a rank's first op to its last, less
 * the work of a rank. This is what the zero-bubble papers call the bubble.
 *
 * <p>p ranks, m micro-batches of all directions, v chunks on each rank; F, B and W are the times of
 * a micro-batch's forward pass, input gradient and weights' gradient in all chunks of a rank.
 * Transfers are free, no ops overlap, {@code W ≤ B} and {@code F ≤ B + W}.
 *
 * @param formula in these letters
 * @param holds for which numbers
 * @param form its value
 */
public record Bubble(String formula, Holds holds, Form form) {
  /** The formula as a function; times are in one unit, as is the answer. */
  @FunctionalInterface
  public interface Form {
    double of(Counts counts, Times times);
  }

  /** The numbers of a pipeline: ranks, micro-batches of all directions, chunks on each rank. */
  public record Counts(int p, int m, int v) {
    /** Units of as many micro-batches as ranks. */
    double units() {
      return (double) m / p;
    }
  }

  /** Times of a micro-batch on a rank: forward pass, input gradient, weights' gradient. */
  public record Times(double f, double b, double w) {
    double whole() {
      return f + b + w;
    }

    /** By how much backward passes are longer than forward passes. */
    double longerBackward() {
      return b + w - f;
    }
  }

  /** For which numbers a formula holds, where the schedule exists. */
  public enum Holds {
    ALWAYS(""),
    FROM_RANKS("m ≥ p"),
    FROM_TWICE_THE_RANKS("m ≥ 2p − 1"),
    MULTIPLES_OF_RANKS("p divides m"),
    EQUAL_HALVES("F = B");

    private final String words;

    Holds(String words) {
      this.words = words;
    }

    /** The condition in the letters of the formula; empty where there is none. */
    public String words() {
      return words;
    }

    /** Whether a formula with this condition holds. */
    public boolean test(Counts counts, Times times) {
      return switch (this) {
        case ALWAYS -> true;
        case FROM_RANKS -> counts.m() >= counts.p();
        case FROM_TWICE_THE_RANKS -> counts.m() >= 2 * counts.p() - 1;
        case MULTIPLES_OF_RANKS -> counts.m() % counts.p() == 0;
        case EQUAL_HALVES -> times.f() == times.b();
      };
    }
  }

  /** Filling and draining by whole passes: GPipe and 1F1B. */
  static final Bubble FILL_AND_DRAIN =
      new Bubble("(p − 1)(F + B + W)", Holds.ALWAYS, (n, t) -> (n.p() - 1) * t.whole());

  /** The same by passes of a chunk. */
  static Bubble ofChunks(Holds holds) {
    return new Bubble("(p − 1)(F + B + W)/v", holds, (n, t) -> (n.p() - 1) * t.whole() / n.v());
  }
}
