package dev.pipewright.schedule.catalog;

/**
 * For which numbers of ranks and micro-batches a schedule exists.
 *
 * @param leastRanks the fewest ranks
 * @param evenRanks whether their number has to be even
 * @param leastPerRank the fewest micro-batches of a step, for each rank; 0 where one is enough
 * @param multiple of what the number of micro-batches has to be
 */
public record CountRule(int leastRanks, boolean evenRanks, int leastPerRank, Multiple multiple) {
  /** Numbers whose multiples suit a schedule. */
  public enum Multiple {
    ONE,
    TWO,
    RANKS;

    private int of(int ranks) {
      return switch (this) {
        case ONE -> 1;
        case TWO -> 2;
        case RANKS -> ranks;
      };
    }
  }

  static final CountRule ANY = new CountRule(1, false, 0, Multiple.ONE);
  static final CountRule TWO_RANKS = new CountRule(2, false, 0, Multiple.ONE);
  static final CountRule TWICE_THE_RANKS = new CountRule(1, false, 2, Multiple.ONE);
  static final CountRule EVEN_MICRO_BATCHES = new CountRule(1, false, 0, Multiple.TWO);
  static final CountRule MULTIPLES = new CountRule(1, false, 1, Multiple.RANKS);
  static final CountRule MULTIPLES_FROM_TWICE = new CountRule(1, false, 2, Multiple.RANKS);
  static final CountRule EVEN_RANKS_MULTIPLES = new CountRule(2, true, 1, Multiple.RANKS);
  static final CountRule EVEN_FROM_TWICE = new CountRule(2, true, 2, Multiple.TWO);

  /** Whether there is a schedule for so many; micro-batches count those of all directions. */
  public boolean allows(int ranks, int microBatches) {
    return ranks >= leastRanks
        && (!evenRanks || ranks % 2 == 0)
        && microBatches >= Math.max(1, (long) leastPerRank * ranks)
        && microBatches % multiple.of(ranks) == 0;
  }

  /** {@code even}, {@code ≥ 2}, or {@code any}. */
  public String ranksWords() {
    return evenRanks ? "even" : leastRanks > 1 ? "≥ " + leastRanks : "any";
  }

  /** {@code even, ≥ 2p} for p ranks, and the like. */
  public String microBatchesWords() {
    String least = leastPerRank > 1 ? "≥ " + leastPerRank + "p" : "";
    String multiples =
        switch (multiple) {
          case ONE -> "";
          case TWO -> "even";
          case RANKS -> "multiples of p";
        };
    String both = multiples.isEmpty() || least.isEmpty() ? "" : ", ";
    String words = multiples + both + least;
    return words.isEmpty() ? "any" : words;
  }
}
