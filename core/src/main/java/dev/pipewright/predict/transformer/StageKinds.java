package dev.pipewright.predict.transformer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The different ranks of a pipeline. Ranks that hold the same are of one kind, so an even split of
 * equal layers has at most four kinds, however long the pipeline is. Kinds come in the order of
 * their first ranks.
 */
final class StageKinds {
  private final StageSplit.Rank[] held;
  private final int[] first;
  private final int[] count;

  private StageKinds(List<StageSplit.Rank> held, int[] first, int[] count) {
    this.held = held.toArray(StageSplit.Rank[]::new);
    this.first = first;
    this.count = count;
  }

  static StageKinds of(StageSplit split, TransformerSizes sizes) {
    List<StageSplit.Rank> ranks = split.ranks(sizes);
    List<StageSplit.Rank> held = new ArrayList<>();
    int[] first = new int[ranks.size()];
    int[] count = new int[ranks.size()];
    for (int rank = 0; rank < ranks.size(); rank++) {
      int kind = held.indexOf(ranks.get(rank));
      if (kind < 0) {
        kind = held.size();
        held.add(ranks.get(rank));
        first[kind] = rank;
      }
      count[kind]++;
    }
    return new StageKinds(held, first, count);
  }

  int size() {
    return held.length;
  }

  /** What each rank of a kind holds. */
  StageSplit.Rank rank(int kind) {
    return held[kind];
  }

  /** The first rank of a kind; of its kind it keeps most activations. */
  int first(int kind) {
    return first[kind];
  }

  /** The kind of what a rank holds. */
  int kindOf(StageSplit.Rank rank) {
    return Arrays.asList(held).indexOf(rank);
  }

  /** Ranks of a kind. */
  int count(int kind) {
    return count[kind];
  }
}
