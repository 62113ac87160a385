package dev.pipewright.planner.memory;

import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.SearchStoppedException;
import dev.pipewright.planner.memory.Balance.RunnerUp;
import dev.pipewright.units.Check;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The partition of a chain of layers into stages whose fullest stage needs least, for any predictor
 * that depends on a stage's layers and its place.
 *
 * <p>Dynamic program from the end: {@code least[s][i]} is the smallest peak of stages {@code s} and
 * later if they begin at layer {@code i}; the first stage of them ends anywhere. Nothing is assumed
 * of the predictor, not even that more layers need more. The same objective as mCAP-BF ({@link
 * McapBruteForce}), O(stages · layers²) instead of all C(layers − 1, stages − 1) partitions; with
 * {@link TieBreak#NEXT_PEAKS} the same partition too, O(stages² · layers²) (see {@link NextPeaks}).
 */
public final class McapExact {
  /** The planner's name. */
  public static final String NAME = "mcap";

  /** Peaks between two questions whether to stop, so that small searches always have an answer. */
  private static final int ASK = 1 << 16;

  private final StagePeak peaks;
  private final int layers;
  private final int stages;
  private final double[][] least;
  private final int[][] ends;
  private final BooleanSupplier stop;
  private long considered;
  private long asked; // whether to stop, when so many had been considered

  private McapExact(StagePeak peaks, int layers, int stages, BooleanSupplier stop) {
    this.peaks = peaks;
    this.stop = stop;
    this.layers = layers;
    this.stages = stages;
    this.least = new double[stages][layers];
    this.ends = new int[stages][layers];
  }

  /** The best partition. Throws where none exists, since branches of the network leave no cut. */
  public static Balance of(StagePeak peaks, int layers, int stages, TieBreak tieBreak) {
    return of(peaks, layers, stages, tieBreak, () -> false);
  }

  /**
   * The same until it is asked to stop; then ties are not broken and there is no runner-up.
   *
   * @param stop asked now and then
   * @throws SearchStoppedException when the best is not known by then
   */
  public static Balance of(
      StagePeak peaks, int layers, int stages, TieBreak tieBreak, BooleanSupplier stop) {
    check(layers, stages);
    McapExact search = new McapExact(peaks, layers, stages, stop);
    int[] sizes = search.solved();
    Check.that(
        search.least[0][0] < Double.POSITIVE_INFINITY,
        "the network's branches leave no way to cut it into %d stages; use fewer devices",
        stages);
    double peak = search.least[0][0];
    int[] chosen =
        tieBreak == TieBreak.NONE
            ? sizes
            : unlessStopped(() -> NextPeaks.sizes(asking(peaks, stop), layers, stages, peak))
                .orElse(sizes);
    return new Balance(
        NAME,
        chosen,
        peaks.bytes(chosen),
        new LowerBound(peak, "the least of all partitions, by dynamic programming"),
        unlessStopped(() -> runnerUp(peaks, layers, chosen, stop)).flatMap(found -> found),
        search.considered);
  }

  private static <T> Optional<T> unlessStopped(Supplier<T> search) {
    try {
      return Optional.of(search.get());
    } catch (SearchStoppedException e) {
      return Optional.empty();
    }
  }

  private static StagePeak asking(StagePeak peaks, BooleanSupplier stop) {
    long[] asked = {0};
    return (stage, first, end) -> {
      if (++asked[0] % ASK == 0 && stop.getAsBoolean()) {
        throw new SearchStoppedException();
      }
      return peaks.bytes(stage, first, end);
    };
  }

  static void check(int layers, int stages) {
    Check.that(
        stages >= 1 && stages <= layers,
        "%d devices need a layer each: layers=%d; use at most as many devices",
        stages,
        layers);
  }

  /** The best partition that does not have the fullest stage of {@code sizes}. */
  private static Optional<RunnerUp> runnerUp(
      StagePeak peaks, int layers, int[] sizes, BooleanSupplier stop) {
    Balance best = new Balance("", sizes, peaks.bytes(sizes), none(), Optional.empty(), 0);
    int binds = best.fullest();
    int from = best.first(binds);
    int to = from + sizes[binds];
    StagePeak without =
        (stage, first, end) ->
            stage == binds && first == from && end == to
                ? Double.POSITIVE_INFINITY
                : peaks.bytes(stage, first, end);
    McapExact search = new McapExact(without, layers, sizes.length, stop);
    int[] other = search.solved();
    double peak = search.least[0][0];
    return peak < Double.POSITIVE_INFINITY
        ? Optional.of(new RunnerUp(other, peak, peak / best.peakBytes() - 1))
        : Optional.empty();
  }

  private static LowerBound none() {
    return new LowerBound(0, "");
  }

  private int[] solved() {
    for (int stage = stages - 1; stage >= 0; stage--) {
      int last = stage == 0 ? 0 : layers - (stages - stage);
      for (int first = stage; first <= last; first++) {
        if (considered - asked >= ASK) {
          asked = considered;
          if (stop.getAsBoolean()) {
            throw new SearchStoppedException();
          }
        }
        solve(stage, first);
      }
    }
    int[] sizes = new int[stages];
    for (int stage = 0, first = 0; stage < stages; stage++) {
      sizes[stage] = ends[stage][first] - first;
      first = ends[stage][first];
    }
    return sizes;
  }

  private void solve(int stage, int first) {
    if (stage == stages - 1) {
      ends[stage][first] = layers;
      least[stage][first] = peaks.bytes(stage, first, layers);
      considered++;
      return;
    }
    double best = Double.POSITIVE_INFINITY;
    int bestEnd = first + 1;
    double[] rest = least[stage + 1];
    int last = layers - (stages - 1 - stage);
    for (int end = first + 1; end <= last; end++) {
      if (rest[end] < best) {
        double peak = Math.max(rest[end], peaks.bytes(stage, first, end));
        considered++;
        if (peak < best) {
          best = peak;
          bestEnd = end;
        }
      }
    }
    least[stage][first] = best;
    ends[stage][first] = bestEnd;
  }
}
