package dev.pipewright.planner.memory;

import dev.pipewright.planner.Planning.LowerBound;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * mCAP-BF: predicts every partition of a chain into stages and keeps the one with the smallest
 * peak, by {@link TieBreak#NEXT_PEAKS} among equals.
 *
 * <p>Source: mCAP (see the package). O(stages · C(layers − 1, stages − 1)): seconds for what {@link
 * McapExact} does at once; it is here to compare with and as its referee.
 */
public final class McapBruteForce {
  /** The planner's name. */
  public static final String NAME = "mcap-bf";

  private static final int ASK = 1 << 14; // partitions between two questions whether to stop

  private final StagePeak peaks;
  private final BooleanSupplier stop;
  private final int layers;
  private final int[] sizes;
  private final double[] bytes;
  private int[] best = new int[0];
  private double[] bestBytes = new double[0];
  private double[] bestDescending = new double[0];
  private double bestPeak = Double.POSITIVE_INFINITY;
  private long considered;
  private boolean stopped;

  private McapBruteForce(StagePeak peaks, int layers, int stages, BooleanSupplier stop) {
    this.peaks = peaks;
    this.stop = stop;
    this.layers = layers;
    this.sizes = new int[stages];
    this.bytes = new double[stages];
  }

  /**
   * The best of all partitions, or of those tried until it is asked to stop. Throws where no
   * partition exists.
   *
   * @param stop asked now and then; from the first yes on nothing more is tried
   */
  public static Balance of(StagePeak peaks, int layers, int stages, BooleanSupplier stop) {
    McapExact.check(layers, stages);
    Balance exact = McapExact.of(peaks, layers, stages, TieBreak.NONE, stop);
    McapBruteForce search = new McapBruteForce(peaks, layers, stages, stop);
    search.from(0, 0, 0);
    boolean found = search.bestBytes.length > 0; // stopped before anything was found
    LowerBound bound =
        search.stopped
            ? exact.lowerBound()
            : new LowerBound(
                search.bestPeak, "all " + search.considered + " partitions were tried");
    return new Balance(
        NAME,
        found ? search.best : exact.sizes(),
        found ? search.bestBytes : exact.bytes(),
        bound,
        search.stopped ? Optional.empty() : exact.runnerUp(), // might hold less
        search.considered);
  }

  private void from(int stage, int first, double peak) {
    if (stage == sizes.length - 1) {
      sizes[stage] = layers - first;
      bytes[stage] = peaks.bytes(stage, first, layers);
      consider(Math.max(peak, bytes[stage]));
      return;
    }
    int last = layers - (sizes.length - 1 - stage);
    for (int end = first + 1; end <= last && !stopped; end++) {
      sizes[stage] = end - first;
      bytes[stage] = peaks.bytes(stage, first, end);
      from(stage + 1, end, Math.max(peak, bytes[stage]));
    }
  }

  private void consider(double peak) {
    if (++considered % ASK == 0) {
      stopped = stop.getAsBoolean();
    }
    if (peak < bestPeak || (peak == bestPeak && peak < Double.POSITIVE_INFINITY && better())) {
      bestPeak = peak;
      best = sizes.clone();
      bestBytes = bytes.clone();
      bestDescending = TieBreak.descending(bytes);
    }
  }

  private boolean better() {
    int count = TieBreak.compared(sizes.length);
    return TieBreak.compare(TieBreak.descending(bytes), bestDescending, count) < 0;
  }
}
