package dev.pipewright.schedule;

import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Which rank runs which stage. A chain is a pipeline of its own: bidirectional schedules run two of
 * them through the same ranks, from both ends. Stages are counted on from chain to chain: stage
 * {@code s} of chain {@code c} is {@code c · depth + s}.
 */
public final class Placement {
  private final int ranks;
  private final int depth;
  private final int[] rankOf; // of every stage of every chain

  private Placement(int ranks, int depth, int[] rankOf) {
    this.ranks = ranks;
    this.depth = depth;
    this.rankOf = rankOf;
  }

  /** Stage {@code i} on rank {@code i}. */
  public static Placement straight(int ranks) {
    return looped(ranks, 1);
  }

  /** {@code chunks} stages on each rank, dealt out in turn: stage {@code i} on rank i mod ranks. */
  public static Placement looped(int ranks, int chunks) {
    int[] rankOf = new int[Math.multiplyExact(ranks, chunks)];
    Arrays.setAll(rankOf, stage -> stage % ranks);
    return of(ranks, 1, rankOf);
  }

  /** There and back, {@code chunks} times in all: a V for two, a wave for more. */
  public static Placement waves(int ranks, int chunks) {
    int[] rankOf = new int[Math.multiplyExact(ranks, chunks)];
    Arrays.setAll(
        rankOf, stage -> stage / ranks % 2 == 0 ? stage % ranks : ranks - 1 - stage % ranks);
    return of(ranks, 1, rankOf);
  }

  /** Two chains of {@code ranks} stages, the second from the last rank to the first. */
  public static Placement bothWays(int ranks) {
    int[] rankOf = new int[2 * ranks];
    Arrays.setAll(rankOf, stage -> stage < ranks ? stage : 2 * ranks - 1 - stage);
    return of(ranks, 2, rankOf);
  }

  /**
   * Any placement.
   *
   * @param rankOf for each stage of each chain
   */
  public static Placement of(int ranks, int chains, int... rankOf) {
    Check.that(ranks >= 1, "a schedule has ranks: ranks=%d", ranks);
    Check.that(
        chains >= 1 && rankOf.length > 0 && rankOf.length % chains == 0,
        "each chain has as many stages: chains=%d, stages=%d",
        chains,
        rankOf.length);
    for (int rank : rankOf) {
      if (rank < 0 || rank >= ranks) { // there may be many: say it only where one is wrong
        Check.that(false, "ranks are 0..%d: rank=%d", ranks - 1, rank);
      }
    }
    return new Placement(ranks, rankOf.length / chains, rankOf.clone());
  }

  public int ranks() {
    return ranks;
  }

  /** Stages of one chain. */
  public int depth() {
    return depth;
  }

  public int chains() {
    return rankOf.length / depth;
  }

  /** Stages of all chains. */
  public int stages() {
    return rankOf.length;
  }

  public int rankOf(int stage) {
    return rankOf[stage];
  }

  /** Whether no stage of its chain comes before. */
  public boolean first(int stage) {
    return stage % depth == 0;
  }

  /** Whether no stage of its chain follows. */
  public boolean last(int stage) {
    return stage % depth == depth - 1;
  }

  /** Whether every stage has a rank of its own with the same number. */
  public boolean straight() {
    for (int stage = 0; stage < rankOf.length; stage++) {
      if (rankOf[stage] != stage) {
        return false;
      }
    }
    return rankOf.length == ranks;
  }

  /**
   * How many copies of the parameters all ranks hold together, if each held as much as the fullest:
   * 1 where each stage is on one rank, 2 where two directions have it on two.
   */
  public double copies() {
    BitSet[] held = new BitSet[ranks];
    Arrays.setAll(held, rank -> new BitSet(depth));
    for (int stage = 0; stage < rankOf.length; stage++) {
      held[rankOf[stage]].set(stage % depth);
    }
    int most = Arrays.stream(held).mapToInt(BitSet::cardinality).max().orElse(0);
    return (double) most * ranks / depth;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Placement placement
        && ranks == placement.ranks
        && depth == placement.depth
        && Arrays.equals(rankOf, placement.rankOf);
  }

  @Override
  public int hashCode() {
    return 31 * depth + Arrays.hashCode(rankOf);
  }
}
