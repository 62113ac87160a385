package dev.pipewright.schedule.search;

import java.util.Arrays;

/** Which rank comes first: a knockout tournament, in which a change replays log(ranks) matches. */
final class Earliest {
  private final double[] at; // by rank, and infinite for places that no rank takes
  private final int[] winner; // of the match at each node; node n has children 2n and 2n + 1
  private final int places;

  Earliest(int ranks) {
    places = Math.max(2, Integer.highestOneBit(2 * ranks - 1));
    at = new double[places];
    winner = new int[2 * places];
    Arrays.fill(at, ranks, places, Double.POSITIVE_INFINITY);
    Arrays.setAll(winner, node -> Math.max(0, node - places));
    for (int node = places - 1; node > 0; node--) {
      play(node);
    }
  }

  /** The lowest of those that come first. */
  int first() {
    return winner[1];
  }

  double at(int rank) {
    return at[rank];
  }

  void set(int rank, double time) {
    at[rank] = time;
    for (int node = (places + rank) >> 1; node > 0; node >>= 1) {
      play(node);
    }
  }

  private void play(int node) {
    int left = winner[2 * node];
    int right = winner[2 * node + 1];
    winner[node] = at[right] < at[left] ? right : left;
  }
}
