package dev.pipewright.schedule;

import java.util.BitSet;

/**
 * When one micro-batch's passes of {@link OneForwardOneBackwardV} start if every rank repeats them
 * without a pause: forward passes take 1, backward passes 2, and a rank runs two of each, so each
 * repeats every 6.
 *
 * <p>Forward passes follow each other directly, from stage 0 to 2p−1; backward passes, from the
 * last stage to the first, take the earliest time that is free in every repetition and leaves room
 * for the rank's other backward pass.
 */
final class TurningBlock {
  static final int FORWARD = 1;
  static final int BACKWARD = 2;
  static final int PERIOD = 2 * (FORWARD + BACKWARD);

  private final int[] backward; // start by stage

  private TurningBlock(int[] backward) {
    this.backward = backward;
  }

  static TurningBlock of(int ranks) {
    int[] backward = new int[2 * ranks];
    BitSet[] taken = new BitSet[ranks]; // times modulo the period
    int time = 2 * ranks;
    for (int stage = 2 * ranks - 1; stage >= 0; stage--) {
      int rank = Math.min(stage, 2 * ranks - 1 - stage);
      if (stage >= ranks) {
        taken[rank] = forwards(rank, stage);
      }
      while (!fits(taken[rank], time, stage >= ranks)) {
        time++;
      }
      take(taken[rank], time);
      backward[stage] = time;
      time += BACKWARD;
    }
    return new TurningBlock(backward);
  }

  private static BitSet forwards(int rank, int stage) {
    BitSet taken = new BitSet(PERIOD);
    taken.set(rank % PERIOD);
    taken.set(stage % PERIOD);
    return taken;
  }

  private static void take(BitSet taken, int time) {
    taken.set(time % PERIOD);
    taken.set((time + 1) % PERIOD);
  }

  private static boolean fits(BitSet taken, int time, boolean another) {
    if (taken.get(time % PERIOD) || taken.get((time + 1) % PERIOD)) {
      return false;
    }
    if (!another) {
      return true;
    }
    BitSet then = (BitSet) taken.clone();
    take(then, time);
    for (int other = 0; other < PERIOD; other++) {
      if (fits(then, other, false)) {
        return true;
      }
    }
    return false;
  }

  int forward(int stage) {
    return stage;
  }

  int backward(int stage) {
    return backward[stage];
  }
}
