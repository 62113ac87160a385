package dev.pipewright.planner;

import dev.pipewright.planner.recompute.Recomputation;
import java.util.Arrays;

/**
 * Seconds that no step of an equal pipeline is shorter than, however its layers are cut.
 *
 * <p>Each of these holds, so their maximum does:
 *
 * <ul>
 *   <li>The ranks share all passes of all micro-batches, and the ends of the step (ends of
 *       gradients that nothing hides, updates). The busiest has at least the mean; and of {@code
 *       k·ranks + 1} runs of layers some rank has {@code k + 1}, the least of these at best.
 *   <li>Before rank q works a micro-batch has passed q stages, a run of layers in each at least.
 *       Where backward passes are whole, the last pass of a rank is one of its first stage, and the
 *       stages before follow it. The mean over the ranks is a bound.
 *   <li>No backward pass begins before a micro-batch has passed all layers, and after the last
 *       forward pass one goes all the way back (where backward passes are split, without the
 *       weights' gradients). Before that, or after it, the ranks share all passes of the other
 *       kind.
 *   <li>With one stage on each rank, stage s waits for the forward pass of all layers before its
 *       own, does its passes, and, where backward passes are whole, waits for the backward pass of
 *       all layers before. A step is at least the least T within which all layers have a stage when
 *       each stage in turn takes as many as T allows: more layers before never leave more time.
 *   <li>A micro-batch keeps what a layer keeps of it while it goes through all layers behind it and
 *       back. Bytes times seconds of all micro-batches are at most those of the memory that the
 *       states leave free, times T. With one stage on each rank, there is room for what one
 *       micro-batch keeps of all layers. Layers that are recomputed keep nothing here, and cost
 *       their forward pass a second time: those that save most for each second first, the last in
 *       part (the relaxation of a knapsack problem).
 * </ul>
 */
final class GridBound {
  private static final int HALVINGS = 30;
  private static final double MOST = 16; // times as long as the mean

  private final LayerLoads loads;
  private final int ranks;
  private final int microBatches;
  private final ScheduleShape shape;
  private final Recomputation recomputation;
  private final StageEnds ends;
  private final double[] sends;
  private final double message;
  private final double passes; // seconds of a micro-batch
  private final double after; // seconds after the last passes of all ranks
  private final double filling; // seconds of all ranks
  private final double draining;

  /**
   * Of a grid.
   *
   * @param sends seconds of so many messages from a rank to another over as many cuts, at least
   * @param message seconds that it takes from the passes at both ends, each, at least
   */
  GridBound(
      LayerLoads loads,
      int ranks,
      int microBatches,
      ScheduleShape shape,
      Recomputation recomputation,
      StageEnds ends,
      double[] sends,
      double message) {
    this.loads = loads;
    this.ranks = ranks;
    this.microBatches = microBatches;
    this.shape = shape;
    this.recomputation = recomputation;
    this.ends = ends;
    this.sends = sends;
    this.message = message;
    this.passes = loads.passes();
    this.after = shape.straight() ? afterAll() : 0; // else a rank's next stage goes on meanwhile
    this.filling = waiting(loads.forward());
    this.draining = waiting(loads.backward());
  }

  /**
   * The bound; infinite where memory does not suffice.
   *
   * @param free bytes of a rank's device that states leave, the mean over the ranks
   * @param working bytes of a backward pass beyond what is kept
   * @param enough no higher bound is asked for
   */
  double seconds(double free, double working, double enough) {
    double bound = Math.max(Math.max(largest(), mean(0)), Math.max(oneWay(), exchanging()));
    bound = bound < enough ? Math.max(bound, remembering(free, working)) : bound;
    return bound < enough ? inTurn(bound) : bound;
  }

  /** The mean over the ranks when nothing is recomputed. */
  double mean() {
    return mean(0);
  }

  /** The same when some layers' forward passes run twice. */
  private double mean(double again) {
    double messages = 4 * (ranks - 1) * message; // there and back
    double all = microBatches * (passes + again + messages);
    return (all + filling + Math.max(after, shape.splits() ? 0 : draining)) / ranks;
  }

  /** Seconds until each rank has work, or after it has had its last, all together. */
  private double waiting(double[] passes) {
    double waiting = 0;
    for (int rank = 0; rank < ranks; rank++) {
      int before = shape.chains() > 1 ? Math.min(rank, ranks - 1 - rank) : rank;
      waiting += sends[before];
      for (int at = 0; at < before; at++) {
        waiting += passes[at];
      }
    }
    return waiting;
  }

  /** Seconds after the last passes of all ranks. */
  private double afterAll() {
    return LayerLoads.sum(ends.tail())
        + ends.left(LayerLoads.sum(ends.rest()), LayerLoads.sum(loads.backward()));
  }

  /**
   * A rank's exchanges follow each other, and the first one follows all backward passes of the last
   * stage, since those of the stages before come later. The mean over the ranks.
   */
  private double exchanging() {
    int fewest = microBatches / shape.chains(); // in one direction
    if (fewest == 0) {
      return 0;
    }
    int last = loads.size() - 1;
    double later = shape.splits() ? loads.weights()[last] : 0;
    double first =
        LayerLoads.sum(loads.forward())
            - loads.forward()[last]
            + fewest * (loads.passes(last) - later);
    return first + shape.chains() * LayerLoads.sum(ends.exchanges()) / ranks;
  }

  /** Micro-batches of the direction that has most. */
  private int inOneDirection() {
    return Math.ceilDiv(microBatches, shape.chains());
  }

  /** A micro-batch goes through all layers before, or after, the ranks share half of the work. */
  private double oneWay() {
    double forward = LayerLoads.sum(loads.forward());
    double backward = LayerLoads.sum(loads.backward());
    double back = backward - (shape.splits() ? LayerLoads.sum(loads.weights()) : 0);
    double sent = sends[crossings(stages() - 1)];
    double before = forward + microBatches * backward / ranks;
    double after = microBatches * forward / ranks + back;
    return Math.max(Math.max(before, after), forward + back + sent) + sent;
  }

  /** Of the rank with the most of the largest runs of layers. */
  private double largest() {
    double[] each = new double[loads.size()];
    Arrays.setAll(
        each, at -> microBatches * loads.passes(at) + (shape.straight() ? ends.tail()[at] : 0));
    Arrays.sort(each); // ascending
    int bins = shape.chains() > 1 ? (ranks + 1) / 2 : ranks; // ranks in pairs have the same layers
    double most = 0;
    for (int k = 0; k * bins < each.length; k++) {
      double sum = 0;
      for (int i = k * bins - k; i <= k * bins; i++) {
        sum += each[each.length - 1 - i];
      }
      most = Math.max(most, shape.chains() > 1 ? sum / 2 : sum);
    }
    return most;
  }

  /** Stage after stage; at least {@code least}. */
  private double inTurn(double least) {
    double none = least;
    double some = MOST * least;
    for (int i = 0; i < HALVINGS && !suffices(none); i++) {
      double middle = (none + some) / 2;
      if (suffices(middle)) {
        some = middle;
      } else {
        none = middle;
      }
    }
    return none;
  }

  /** Whether all layers have a stage when each takes as many as so many seconds allow. */
  private boolean suffices(double seconds) {
    int at = 0;
    double filling = 0;
    double draining = 0;
    for (int stage = 0; stage < stages() && at < loads.size(); stage++) {
      int left = Math.min(stages() - 1 - stage, loads.size() - 1); // others have layers, too
      double sent = sends[crossings(stage)];
      double first = filling + sent;
      double last = shape.splits() ? 0 : draining + sent;
      Stage taken = new Stage();
      while (at < loads.size() - left && first + taken.and(at, last) <= seconds) {
        filling += loads.forward()[at];
        draining += loads.backward()[at];
        at++;
      }
    }
    return at == loads.size();
  }

  private int stages() {
    return ranks * shape.chunks();
  }

  /** Messages between ranks on the way to a stage, at least: where a V turns there is none. */
  private int crossings(int stage) {
    return ranks == 1 ? 0 : shape.straight() || shape.chains() > 1 ? stage : stage - stage / ranks;
  }

  /** A stage that takes one run of layers after another. */
  private final class Stage {
    private final int rounds = inOneDirection();
    private double work = shape.straight() && ranks > 1 ? microBatches * 2 * message : 0;
    private double tail;
    private double rest;
    private double pass;

    /** Seconds from its first pass on with one run more, or until the pipeline has drained. */
    double and(int run, double draining) {
      work += rounds * loads.passes(run);
      tail += ends.tail()[run];
      rest += shape.straight() ? ends.rest()[run] : 0; // otherwise passes of other stages hide it
      pass += loads.backward()[run];
      return work + Math.max(tail + ends.left(rest, pass), draining);
    }
  }

  /** So that memory suffices. */
  private double remembering(double free, double working) {
    if (free < 0) {
      return Double.POSITIVE_INFINITY;
    }
    int size = loads.size();
    double[] held = new double[size]; // bytes times seconds of a micro-batch
    double behind = 0;
    for (int at = size - 1; at >= 0; at--) {
      double later = shape.splits() ? loads.weights()[at] : 0;
      behind += loads.passes(at) - later;
      held[at] = loads.kept()[at] * (behind + later);
    }
    if (recomputation.always()) {
      double again = LayerLoads.sum(loads.forward());
      int kept = recomputation == Recomputation.ALWAYS_EXCEPT_LAST ? shape.chains() : 0;
      return mean(again * Math.max(0, microBatches - kept) / microBatches);
    }
    double bytes = shape.straight() ? ranks * (free - working) : Double.POSITIVE_INFINITY;
    if (recomputation == Recomputation.NEVER) {
      boolean fits = LayerLoads.sum(loads.kept()) <= bytes;
      return fits ? microBatches * LayerLoads.sum(held) / (ranks * free) : Double.POSITIVE_INFINITY;
    }
    double atOnce = mean(new LeastRecomputation(loads.kept(), loads.forward()).seconds(bytes));
    return new LeastRecomputation(held, loads.forward())
        .step(atOnce, this::mean, ranks * free / microBatches);
  }
}
