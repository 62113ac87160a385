package dev.pipewright.planner;

import dev.pipewright.planner.recompute.Recomputation;
import java.util.Arrays;

/**
 * Seconds that no step of an equal pipeline is shorter than because its stages keep activations,
 * however its layers are cut and whichever of them are recomputed.
 *
 * <p>A stage keeps its input, and what its layers keep, from the start of its forward pass until
 * its backward pass has ended; layers that are recomputed keep nothing and cost their forward pass
 * a second time. Two constraints follow for the ranks of a pipeline together:
 *
 * <ul>
 *   <li>Over time: before its backward pass ends, a micro-batch has passed the stage and all later
 *       ones, there and back (without the weights' gradients of later stages, where backward passes
 *       are split). Bytes times seconds of all micro-batches, and the working space of all backward
 *       passes while they run, are at most the free memory times the step.
 *   <li>At once: where the schedule follows from counts, it says how many micro-batches a rank has
 *       in flight of each of its stages when some backward pass starts. All of them and the working
 *       space fit.
 * </ul>
 *
 * <p>Both are Lagrangian relaxations: for every price λ of memory, the least sum over all cuts of
 * recomputed seconds and λ times what is kept, less λ times what may be kept, is a lower bound of
 * the recomputed seconds. A dynamic program over stages and layers finds it, with whole layers in
 * each stage. Every λ gives a bound, so the search for the best λ need not be exact.
 *
 * <p>O(stages · layers²) for each λ over time, O(stages · layers) at once.
 */
final class StageMemoryBound {
  private static final int TRIES = 24; // of prices
  private static final double LEAST_PRICE = 1e-3; // of the one at which all is recomputed

  private final LayerLoads loads;
  private final double[] inputs;
  private final double[] seconds; // by run: forward pass, where it may be recomputed
  private final int ranks;
  private final int microBatches;
  private final boolean splits;
  private final double free;
  private final double working;
  private final boolean recomputes;

  /**
   * Of a grid.
   *
   * @param inputs bytes of a micro-batch that a stage keeps which begins with each run of layers
   * @param splits whether gradients of weights may come after those of inputs
   * @param recomputation never, or where needed
   * @param free bytes of a rank's device that states leave, the mean over the ranks
   * @param working bytes of a backward pass beyond what is kept
   */
  StageMemoryBound(
      LayerLoads loads,
      double[] inputs,
      int ranks,
      int microBatches,
      boolean splits,
      Recomputation recomputation,
      double free,
      double working) {
    this.loads = loads;
    this.inputs = inputs;
    this.ranks = ranks;
    this.microBatches = microBatches;
    this.splits = splits;
    this.free = free;
    this.working = working;
    this.recomputes = recomputation != Recomputation.NEVER;
    this.seconds = loads.forward().clone();
    if (!recomputes) {
      Arrays.fill(seconds, Double.POSITIVE_INFINITY);
    }
  }

  /** A step at a price of memory. */
  private interface Step {
    double at(double price);
  }

  /**
   * Over time.
   *
   * @param stages of a micro-batch
   * @param step seconds of a step that recomputes nothing, the mean over the ranks
   * @param enough no higher bound is asked for
   */
  double overTime(int stages, double step, double enough) {
    double[] later = later();
    double busy = working * LayerLoads.sum(loads.backward()); // bytes times seconds
    if (!recomputes) {
      return microBatches * (least(stages, later, 1) + busy) / (ranks * free);
    }
    double rounds = (double) microBatches / ranks;
    return highest(
        price ->
            (step + rounds * (least(stages, later, price) + price * busy)) / (1 + price * free),
        dearest(later[0]),
        step,
        enough);
  }

  /**
   * At once; infinite where memory does not suffice.
   *
   * @param inFlight micro-batches by stage, each counted on its rank
   * @param step as above
   * @param enough likewise
   */
  double atOnce(int[] inFlight, double step, double enough) {
    double room = ranks * (free - working);
    if (room < 0 || least(inFlight, 0, 1) > room * (1 + 1e-12)) {
      return Double.POSITIVE_INFINITY; // for the inputs of all stages
    }
    if (!recomputes) {
      return least(inFlight, 1, 1) > room * (1 + 1e-12) ? Double.POSITIVE_INFINITY : step;
    }
    double rounds = (double) microBatches / ranks;
    return highest(
        price -> step + rounds * (least(inFlight, 1, price) - price * room),
        dearest(1),
        step,
        enough);
  }

  /** Seconds from the start of each run's forward pass on, of all from it on. */
  private double[] later() {
    double[] later = new double[loads.size() + 1];
    for (int at = loads.size() - 1; at >= 0; at--) {
      later[at] = later[at + 1] + loads.passes(at) - (splits ? loads.weights()[at] : 0);
    }
    return later;
  }

  /** The price at which each layer is recomputed if it is kept for so long. */
  private double dearest(double kept) {
    double most = 0;
    for (int at = 0; at < loads.size(); at++) {
      if (loads.kept()[at] > 0) {
        most = Math.max(most, loads.forward()[at] / loads.kept()[at]);
      }
    }
    return most * loads.size() / kept; // the last layer is kept for the shortest time
  }

  /** The highest at any price, by golden sections of its logarithm; at least {@code step}. */
  private static double highest(Step bound, double dearest, double step, double enough) {
    if (dearest == 0) {
      return step;
    }
    double found =
        GoldenSections.highest(
            price -> bound.at(Math.exp(price)),
            Math.log(dearest * LEAST_PRICE),
            Math.log(dearest),
            TRIES,
            enough);
    return Math.max(step, found);
  }

  /** Recomputed seconds and the price of bytes times seconds of a micro-batch, over all cuts. */
  private double least(int stages, double[] later, double price) {
    int size = loads.size();
    double[][] cost = new double[size][size + 1]; // of a stage by first run and end
    for (int first = 0; first < size; first++) {
      double sum = price * inputs[first] * later[first];
      for (int at = first; at < size; at++) {
        double kept = later[first] + (splits ? loads.weights()[at] : 0);
        sum += Math.min(price * loads.kept()[at] * kept, seconds[at]);
        cost[first][at + 1] = sum;
      }
    }
    double[] before = new double[size + 1];
    Arrays.fill(before, Double.POSITIVE_INFINITY);
    before[0] = 0;
    for (int stage = 0; stage < stages; stage++) {
      double[] after = new double[size + 1];
      Arrays.fill(after, Double.POSITIVE_INFINITY);
      int most = size - (stages - 1 - stage); // later stages have layers, too
      for (int first = stage; first < most; first++) {
        for (int end = first + 1; end <= most; end++) {
          after[end] = Math.min(after[end], before[first] + cost[first][end]);
        }
      }
      before = after;
    }
    return before[size];
  }

  /** The same of the bytes in flight. */
  private double least(int[] inFlight, double layers, double price) {
    int size = loads.size();
    double[] before = new double[size + 1];
    Arrays.fill(before, Double.POSITIVE_INFINITY);
    before[0] = 0;
    for (int stage = 0; stage < inFlight.length; stage++) {
      double each = price * inFlight[stage];
      double[] after = new double[size + 1];
      Arrays.fill(after, Double.POSITIVE_INFINITY);
      double sum = 0; // of the runs so far
      double begun = Double.POSITIVE_INFINITY; // the least so far less those before the stage
      int most = size - (inFlight.length - 1 - stage);
      for (int first = stage; first < most; first++) {
        if (first == stage) {
          sum = 0;
        }
        begun = Math.min(begun, before[first] + each * inputs[first] - sum);
        sum += layers * Math.min(each * loads.kept()[first], seconds[first]);
        after[first + 1] = begun + sum;
      }
      before = after;
    }
    return before[size];
  }
}
