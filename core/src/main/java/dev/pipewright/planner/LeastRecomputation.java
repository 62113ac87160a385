package dev.pipewright.planner;

import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;

/**
 * The least that has to be computed a second time so that what is kept fits: the relaxation of a
 * knapsack problem. Layers that free most for each second go first, the last of them in part.
 */
final class LeastRecomputation {
  private static final int HALVINGS = 30;
  private static final double MOST = 16; // times as long as without

  private final double[] held;
  private final double[] forward;
  private final int[] order;
  private final double all;

  /**
   * Of runs of layers.
   *
   * @param held what each keeps, in any unit
   * @param forward seconds of its forward pass
   */
  LeastRecomputation(double[] held, double[] forward) {
    this.held = held;
    this.forward = forward;
    double[] least = new double[held.length]; // first
    Arrays.setAll(least, at -> -freed(held[at], forward[at]));
    Integer[] sorted = new Integer[held.length];
    Arrays.setAll(sorted, at -> at);
    Arrays.sort(sorted, (one, other) -> Double.compare(least[one], least[other]));
    this.order = new int[held.length];
    Arrays.setAll(order, at -> sorted[at]);
    this.all = LayerLoads.sum(held);
  }

  /** For each second; layers may keep nothing, or take no time. */
  private static double freed(double held, double forward) {
    return held == 0 ? 0 : held / forward;
  }

  /** Seconds of forward passes that run twice so that no more than {@code most} is kept. */
  double seconds(double most) {
    double over = all - most;
    double seconds = 0;
    for (int at : order) {
      if (over <= 0 || held[at] == 0) {
        break; // and so do all behind it keep nothing
      }
      seconds += held[at] >= over ? forward[at] * over / held[at] : forward[at];
      over -= held[at];
    }
    return seconds;
  }

  /**
   * The least T within which a step is done, where layers keep bytes times seconds.
   *
   * @param least seconds that a step takes at least
   * @param step seconds of a step with so many seconds computed a second time
   * @param bytes of memory for what is kept
   */
  double step(double least, DoubleUnaryOperator step, double bytes) {
    double over = least;
    double done = MOST * least;
    if (step.applyAsDouble(seconds(over * bytes)) <= over) {
      return over;
    }
    for (int i = 0; i < HALVINGS; i++) {
      double middle = (over + done) / 2;
      if (step.applyAsDouble(seconds(middle * bytes)) <= middle) {
        done = middle;
      } else {
        over = middle;
      }
    }
    return over;
  }
}
