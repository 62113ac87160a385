package dev.pipewright.planner;

/**
 * Tells whether devices could hold the states of whole runs of layers, wherever these are.
 *
 * <p>That is a bin-packing problem. Where all runs fit, so do their images under each of the
 * functions {@code u}: {@code u(x) = x} where {@code (k + 1)·x} is whole, and {@code ⌊(k + 1)·x⌋ /
 * k} elsewhere, since no set of numbers with a sum of at most 1 has images with a greater one (S.
 * P. Fekete and J. Schepers, <i>New classes of lower bounds for bin packing problems</i>, 1998). Of
 * runs a little larger than a fifth of a device, four fit and not five.
 *
 * <p>O(runs) for each k.
 */
final class StatePacking {
  private static final int MOST = 100; // runs of a device
  private static final double ROUNDING = 1e-9;

  private StatePacking() {}

  /**
   * Whether they may fit; false only where they do not.
   *
   * @param bytes of each run
   * @param room bytes of a device
   */
  static boolean mayFit(double[] bytes, int devices, double room) {
    for (double each : bytes) {
      if (each > room * (1 + ROUNDING)) {
        return false;
      }
    }
    for (int k = 1; k <= MOST; k++) {
      double sum = 0;
      for (double each : bytes) {
        sum += image(room > 0 ? each / room : 0, k);
      }
      if (sum > devices * (1 + ROUNDING)) {
        return false;
      }
    }
    return true;
  }

  private static double image(double share, int k) {
    double times = (k + 1) * share;
    boolean whole = Math.abs(times - Math.rint(times)) < ROUNDING * Math.max(1, times);
    return whole ? share : Math.floor(times) / k;
  }
}
