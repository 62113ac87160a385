package dev.pipewright.bench.paradl;

import dev.pipewright.bench.paradl.AbciAccuracy.Source;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Strategy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Finds the constants with the best mean accuracy over both sources of the network, under the
 * constraint that for each strategy, from either source, we are no worse than the authors'
 * projections on average: a coarse grid, then one constant at a time in steps down to 0.01.
 */
final class AbciFit {
  private static final int GRID = 20;
  private static final double[] STEPS = {0.02, 0.01};
  private static final double PENALTY = 10;

  private final AbciAccuracy accuracy;
  private final Map<AbciConstants, Map<Source, double[]>> known = new HashMap<>(); // of each row

  AbciFit(AbciAccuracy accuracy) {
    this.accuracy = accuracy;
  }

  /** Seconds of the rows. */
  double[] seconds(AbciConstants constants, Source source) {
    return known
        .computeIfAbsent(constants, c -> new EnumMap<>(Source.class))
        .computeIfAbsent(source, s -> predict(constants, s));
  }

  private double[] predict(AbciConstants constants, Source source) {
    return accuracy.predict(source, constants.on(accuracy.cluster())).stream()
        .mapToDouble(Predicted::iterationSeconds)
        .toArray();
  }

  /** Mean accuracy on the rows of the strategies asked for, from one source. */
  double mean(AbciConstants constants, Source source, Predicate<Strategy> of) {
    double[] seconds = seconds(constants, source);
    List<Double> values = new ArrayList<>();
    for (int i = 0; i < seconds.length; i++) {
      MeasuredIteration row = accuracy.rows().get(i);
      if (of.test(row.strategy())) {
        values.add(row.accuracyOf(seconds[i]));
      }
    }
    return values.stream().mapToDouble(Double::doubleValue).average().orElse(Double.NaN);
  }

  double mean(AbciConstants constants, Predicate<Strategy> of) {
    return Arrays.stream(Source.values())
        .mapToDouble(source -> mean(constants, source, of))
        .average()
        .orElseThrow();
  }

  /** The authors' mean accuracy. */
  double theirs(Predicate<Strategy> of) {
    return accuracy.rows().stream()
        .filter(row -> of.test(row.strategy()))
        .mapToDouble(MeasuredIteration::accuracy)
        .average()
        .orElseThrow();
  }

  /** How much more accurate than the authors we are where we are so least. */
  double worstMargin(AbciConstants constants, Predicate<Strategy> of) {
    double worst = Double.POSITIVE_INFINITY;
    for (Strategy strategy : accuracy.strategies().stream().filter(of).toList()) {
      for (Source source : Source.values()) {
        double ours = mean(constants, source, s -> s == strategy);
        worst = Math.min(worst, ours - theirs(s -> s == strategy));
      }
    }
    return worst;
  }

  private double score(AbciConstants constants, Predicate<Strategy> of) {
    return mean(constants, of) + PENALTY * Math.min(0, worstMargin(constants, of));
  }

  /** The best constants by the rows of these strategies. */
  AbciConstants best(Predicate<Strategy> of) {
    AbciConstants best =
        grid().stream().max(Comparator.comparingDouble(c -> score(c, of))).orElseThrow();
    for (double step : STEPS) {
      AbciConstants before;
      do {
        before = best;
        double score = score(before, of);
        best =
            before.neighbours(step).stream()
                .filter(c -> score(c, of) > score)
                .max(Comparator.comparingDouble(c -> score(c, of)))
                .orElse(before);
      } while (!best.equals(before));
    }
    return best;
  }

  /** With messages as the cluster has them. */
  private List<AbciConstants> grid() {
    AbciConstants used = AbciConstants.of(accuracy.cluster());
    List<AbciConstants> all = new ArrayList<>();
    for (int share = 1; share <= GRID; share++) {
      for (int waiting = 0; waiting <= GRID / 2; waiting++) {
        double rate = (double) share / GRID;
        all.add(used.with(rate, rate, 0.4 * waiting / GRID));
      }
    }
    return all;
  }
}
