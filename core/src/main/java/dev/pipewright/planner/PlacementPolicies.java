package dev.pipewright.planner;

import java.util.Arrays;
import java.util.List;

/**
 * The three ways in which DAPPLE lets a stage take devices (Fan et al., PPoPP 2021, §IV-B): from
 * unused machines first, from machines in use first, evenly from all machines in use.
 */
final class PlacementPolicies {
  private PlacementPolicies() {}

  /**
   * Adds to {@code found} the different results of the three policies.
   *
   * @param used devices in use by machine
   * @param free devices that are left by machine; together at least {@code count}
   * @param near devices of the neighbouring stage by machine
   */
  static void all(int[] used, int[] free, int[] near, int count, List<int[]> found) {
    addOnce(found, fill(free, byPreference(used, near, false), count));
    addOnce(found, fill(free, byPreference(used, near, true), count));
    addOnce(found, scatter(used, free, count));
  }

  /**
   * Adds to {@code found} the results of the first two policies that leave no more machines in part
   * used than before, or one: on large clusters others are too many to follow.
   */
  static void tidy(int[] used, int[] free, int[] near, int count, List<int[]> found) {
    int allowed = Math.max(1, partly(used, free, new int[used.length]));
    for (boolean usedFirst : new boolean[] {false, true}) {
      int[] taken = fill(free, byPreference(used, near, usedFirst), count);
      if (partly(used, free, taken) <= allowed) {
        addOnce(found, taken);
      }
    }
  }

  private static int partly(int[] used, int[] free, int[] taken) {
    int partly = 0;
    for (int m = 0; m < used.length; m++) {
      partly += used[m] + taken[m] > 0 && taken[m] < free[m] ? 1 : 0;
    }
    return partly;
  }

  /** Machines in the order in which a policy fills them; neighbours first among machines in use. */
  private static Integer[] byPreference(int[] used, int[] near, boolean usedFirst) {
    Integer[] order = new Integer[used.length];
    Arrays.setAll(order, m -> m);
    Arrays.sort(
        order,
        (a, b) -> {
          boolean usedA = used[a] > 0;
          boolean usedB = used[b] > 0;
          if (usedA != usedB) {
            return usedA == usedFirst ? -1 : 1;
          }
          return Integer.compare(near[b], near[a]); // stable
        });
    return order;
  }

  private static int[] fill(int[] free, Integer[] order, int count) {
    int[] taken = new int[free.length];
    int rest = count;
    for (int m : order) {
      taken[m] = Math.min(free[m], rest);
      rest -= taken[m];
    }
    return taken;
  }

  /** Evenly over machines in use (all if none is); what does not fit goes to the others. */
  private static int[] scatter(int[] used, int[] free, int count) {
    int[] taken = new int[free.length];
    boolean anyUsed = Arrays.stream(used).anyMatch(n -> n > 0);
    int rest = spread(used, free, taken, count, anyUsed);
    spread(used, free, taken, rest, false);
    return taken;
  }

  private static int spread(int[] used, int[] free, int[] taken, int count, boolean onlyUsed) {
    int rest = count;
    boolean moved = true;
    while (rest > 0 && moved) {
      moved = false;
      for (int m = 0; m < free.length && rest > 0; m++) {
        if (taken[m] < free[m] && (!onlyUsed || used[m] > 0)) {
          taken[m]++;
          rest--;
          moved = true;
        }
      }
    }
    return rest;
  }

  private static void addOnce(List<int[]> found, int[] taken) {
    for (int[] other : found) {
      if (Arrays.equals(other, taken)) {
        return;
      }
    }
    found.add(taken);
  }
}
