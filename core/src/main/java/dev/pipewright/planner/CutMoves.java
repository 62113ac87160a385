package dev.pipewright.planner;

import java.util.SplittableRandom;

/** Moves of the cuts between stages, which are stated as the first run of layers of each stage. */
final class CutMoves {
  private static final int KICKED = 2; // cuts

  private CutMoves() {}

  /** With some cuts in a row moved by so many runs of layers. */
  static int[] moved(int[] firsts, int cut, int together, int by) {
    int[] other = firsts.clone();
    for (int i = cut; i < cut + together; i++) {
      other[i] += by;
    }
    return other;
  }

  /**
   * With a few cuts anywhere between their neighbours.
   *
   * @param end runs of layers in all
   */
  static int[] kicked(int[] firsts, int end, SplittableRandom random) {
    int[] other = firsts.clone();
    for (int i = 0; i < KICKED; i++) {
      int cut = random.nextInt(1, Math.max(2, other.length));
      if (cut < other.length) {
        int from = other[cut - 1] + 1;
        int to = cut + 1 < other.length ? other[cut + 1] : end;
        other[cut] = random.nextInt(from, to);
      }
    }
    return other;
  }

  /** Whether each stage has layers. */
  static boolean leavesNoStageEmpty(int[] firsts, int end) {
    for (int cut = 1; cut <= firsts.length; cut++) {
      if (firsts[cut - 1] >= (cut < firsts.length ? firsts[cut] : end)) {
        return false;
      }
    }
    return true;
  }
}
