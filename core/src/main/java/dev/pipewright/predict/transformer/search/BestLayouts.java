package dev.pipewright.predict.transformer.search;

import java.util.ArrayList;
import java.util.List;

/**
 * The fastest layouts so far, at most ten, in arrays of fixed size. Of equally fast ones those with
 * lesser numbers are kept, so that the order of arrival does not matter.
 */
final class BestLayouts {
  static final int MOST = 10;

  private final double[] seconds = new double[MOST];
  private final double[] bytes = new double[MOST];
  private final long[] numbers = new long[MOST];
  private int size;

  /** What a layout must not exceed to get on the list. */
  double bar() {
    return size < MOST ? Double.POSITIVE_INFINITY : seconds[MOST - 1];
  }

  void add(double taken, double needed, long number) {
    int at = size;
    while (at > 0 && before(taken, number, at - 1)) {
      at--;
    }
    if (at == MOST) {
      return;
    }
    size = Math.min(MOST, size + 1);
    for (int i = size - 1; i > at; i--) {
      seconds[i] = seconds[i - 1];
      bytes[i] = bytes[i - 1];
      numbers[i] = numbers[i - 1];
    }
    seconds[at] = taken;
    bytes[at] = needed;
    numbers[at] = number;
  }

  private boolean before(double taken, long number, int other) {
    return taken < seconds[other] || (taken == seconds[other] && number < numbers[other]);
  }

  void add(BestLayouts that) {
    for (int i = 0; i < that.size; i++) {
      add(that.seconds[i], that.bytes[i], that.numbers[i]);
    }
  }

  /** The fastest first. */
  List<RankedLayout> ranked(SearchSpace space) {
    List<RankedLayout> ranked = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      ranked.add(new RankedLayout(space.layout(numbers[i]), seconds[i], bytes[i]));
    }
    return ranked;
  }
}
