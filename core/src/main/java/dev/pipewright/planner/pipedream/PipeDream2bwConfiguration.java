package dev.pipewright.planner.pipedream;

import dev.pipewright.planner.pipedream.PipeDream2bwPlanning.Candidate;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning.Stage;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The best cuts of one configuration of PipeDream-2BW: of the pipelines that fit, the one whose
 * slowest stage is fastest, or the one whose fullest device holds least.
 *
 * <p>A dynamic program over (stages so far, place): O(depth · places · a stage's length), since the
 * way back from a place ends where the work alone takes as long as the best.
 */
final class PipeDream2bwConfiguration {
  private final PipeDream2bwCuts places;
  private final PipeDream2bwSetting setting;
  private final int width;
  private final int depth;
  private final int microBatch;
  private final int microBatches;
  private final boolean recompute;
  private final double working; // bytes, of the hungriest layer while it computes
  private final double[] work; // seconds of a micro-batch before each place
  private final double[] input; // seconds in which a micro-batch crosses one way, but for the rate

  PipeDream2bwConfiguration(
      PipeDream2bwCuts places,
      PipeDream2bwSetting setting,
      int width,
      int depth,
      int microBatch,
      boolean recompute) {
    this.places = places;
    this.setting = setting;
    this.width = width;
    this.depth = depth;
    this.microBatch = microBatch;
    this.microBatches = setting.globalBatch() / width / microBatch;
    this.recompute = recompute;
    this.working = setting.profile().workingBytes(microBatch);
    this.work = places.seconds(microBatch, recompute);
    this.input = new double[places.last() + 1];
    for (int place = 1; place < places.last(); place++) {
      input[place] = places.crossing(place) * microBatch;
    }
  }

  /** The fastest pipeline that fits. */
  Optional<Candidate> fastest() {
    int[] cuts = cuts(true);
    if (cuts.length == 0) {
      return Optional.empty();
    }
    List<Stage> stages = new ArrayList<>();
    for (int s = 0; s < depth; s++) {
      stages.add(stage(s, cuts[s], cuts[s + 1]));
    }
    Stage slowest = stages.get(0);
    for (Stage stage : stages) {
      slowest = period(stage) > period(slowest) ? stage : slowest;
    }
    double seconds = period(slowest) * microBatches;
    return Optional.of(
        new Candidate(
            width, microBatch, microBatches, recompute, seconds, stages, words(slowest, seconds)));
  }

  /** Bytes of the fullest device where that is least; infinite with more stages than layers. */
  double leastPeakBytes() {
    int[] cuts = cuts(false);
    double peak = cuts.length == 0 ? Double.POSITIVE_INFINITY : 0;
    for (int s = 0; s + 1 < cuts.length; s++) {
      peak = Math.max(peak, bytes(s, cuts[s], cuts[s + 1]));
    }
    return peak;
  }

  /** The places before, between and after the stages; none when there is no such pipeline. */
  private int[] cuts(boolean fast) {
    int last = places.last();
    double[] best = new double[last + 1];
    Arrays.fill(best, Double.POSITIVE_INFINITY);
    best[0] = 0;
    int[][] before = new int[depth][last + 1];
    for (int s = 0; s < depth; s++) {
      int behind = depth - 1 - s; // a layer for each of those stages
      int nearest = behind == 0 ? last : s + 1;
      for (int to = last - behind; to >= nearest; to--) { // downwards: best is of a stage fewer
        double least = Double.POSITIVE_INFINITY;
        for (int from = s == 0 ? 0 : to - 1; from >= s && floor(from, to, fast) < least; from--) {
          double value = Math.max(best[from], fast ? period(s, from, to) : bytes(s, from, to));
          if (value < least) {
            least = value;
            before[s][to] = from;
          }
        }
        best[to] = least;
      }
      best[s] = Double.POSITIVE_INFINITY; // every stage has a layer
    }
    return best[last] == Double.POSITIVE_INFINITY ? new int[0] : walk(before);
  }

  private int[] walk(int[][] before) {
    int[] cuts = new int[depth + 1];
    cuts[depth] = places.last();
    for (int s = depth - 1; s > 0; s--) {
      cuts[s] = before[s][cuts[s + 1]];
    }
    return cuts;
  }

  /** What a stage cannot go below, and that never falls as it grows to the front. */
  private double floor(int from, int to, boolean fast) {
    double bytes = places.weights(from, to) * setting.heldPerWeightByte();
    if (!fast) {
      return bytes;
    }
    return bytes > setting.memoryBytes() ? Double.POSITIVE_INFINITY : work[to] - work[from];
  }

  /**
   * Seconds for each micro-batch that a stage keeps the pipeline to; infinite if it is too full.
   */
  private double period(int s, int from, int to) {
    if (bytes(s, from, to) > setting.memoryBytes()) {
      return Double.POSITIVE_INFINITY;
    }
    double busy = work[to] - work[from] + transfer(s, from, to);
    return Math.max(busy, exchange(s, from, to) / microBatches);
  }

  private double period(Stage stage) {
    return Math.max(
        stage.computeSeconds() + stage.transferSeconds(), stage.exchangeSeconds() / microBatches);
  }

  private double transfer(int s, int from, int to) {
    return crossing(from, s - 1) + crossing(to, s);
  }

  /** Behind stage {@code s}. */
  private double crossing(int place, int s) {
    return input[place] == 0
        ? 0
        : input[place] / setting.bytesPerSecond(s * width, (s + 2) * width - 1);
  }

  private double exchange(int s, int from, int to) {
    double bytes = 2 * (width - 1) * places.weights(from, to) / width;
    return bytes == 0 ? 0 : bytes / setting.bytesPerSecond(s * width, (s + 1) * width - 1);
  }

  private double bytes(int s, int from, int to) {
    double kept = places.kept(from, to) * microBatch;
    double activations = (depth - s) * (input[from] + (recompute ? 0 : kept));
    activations += recompute ? kept : 0;
    return places.weights(from, to) * setting.heldPerWeightByte() + activations + working;
  }

  private Stage stage(int s, int from, int to) {
    return new Stage(
        from == 0 ? 0 : places.position(from - 1) + 1,
        places.position(to - 1),
        IntStream.range(s * width, (s + 1) * width).boxed().toList(),
        work[to] - work[from],
        transfer(s, from, to),
        exchange(s, from, to),
        bytes(s, from, to),
        depth - s);
  }

  private String words(Stage slowest, double seconds) {
    double compute = slowest.computeSeconds() * microBatches;
    double transfer = slowest.transferSeconds() * microBatches;
    String what =
        slowest.exchangeSeconds() >= seconds
            ? "gradients"
            : transfer > compute ? "link" : "compute";
    return what
        + ": layers "
        + slowest.firstLayer()
        + "–"
        + slowest.lastLayer()
        + " compute "
        + Units.seconds(compute)
        + " of "
        + Units.seconds(seconds)
        + ", wait for transfers "
        + Units.seconds(transfer)
        + " and sum gradients in "
        + Units.seconds(slowest.exchangeSeconds())
        + " beside that; they fill "
        + Units.percent(slowest.memoryBytes() / setting.memoryBytes())
        + " of memory"
        + (recompute ? " with recomputation" : "");
  }
}
