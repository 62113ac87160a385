package dev.pipewright.planner;

import java.util.function.DoubleUnaryOperator;

/** Looks for the highest value of a function that rises, then falls, by golden sections. */
final class GoldenSections {
  private static final double GOLDEN = (Math.sqrt(5) - 1) / 2;

  private GoldenSections() {}

  /**
   * The highest value found between two places.
   *
   * @param tries values that are worked out at most, two at least
   * @param enough no higher value is asked for
   */
  static double highest(
      DoubleUnaryOperator function, double from, double to, int tries, double enough) {
    double low = from;
    double high = to;
    double left = high - GOLDEN * (high - low);
    double right = low + GOLDEN * (high - low);
    double ofLeft = function.applyAsDouble(left);
    double ofRight = function.applyAsDouble(right);
    double best = Math.max(ofLeft, ofRight);
    for (int i = 2; i < tries && best < enough; i++) {
      if (ofLeft > ofRight) {
        high = right;
        right = left;
        ofRight = ofLeft;
        left = high - GOLDEN * (high - low);
        ofLeft = function.applyAsDouble(left);
      } else {
        low = left;
        left = right;
        ofLeft = ofRight;
        right = low + GOLDEN * (high - low);
        ofRight = function.applyAsDouble(right);
      }
      best = Math.max(best, Math.max(ofLeft, ofRight));
    }
    return best;
  }
}
