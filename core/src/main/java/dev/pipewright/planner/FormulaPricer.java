package dev.pipewright.planner;

import dev.pipewright.cost.PipelineFormula;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.PlacementCosts.Placed;
import dev.pipewright.planner.PlacementCosts.Transfer;
import dev.pipewright.planner.PlacementSpace.Step;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.planner.recompute.TradeOffs;
import dev.pipewright.schedule.PipelinePolicy;
import org.jspecify.annotations.Nullable;

/**
 * Prices stages on the real topology, under the memory limit, and combines them by a {@link
 * PipelineFormula}: the same numbers as {@link dev.pipewright.cost.PipelineOracle}, O(1) each.
 */
final class FormulaPricer implements StagePricer {
  private final StageCosts costs;
  private final PipelineFormula formula;
  private final PlacementCosts placements;
  private final PipelinePolicy policy;
  private final Recomputation recomputation;
  private final @Nullable SelectiveRecomputation selective;
  private final boolean throttle;
  private final MicroBatchingBounds bounds;
  private final int microBatching;
  private final int microBatches;

  private PrefixBound prefixes;

  // what open() prepares for stage()
  private final double[] opened;
  private int behind;
  private int end;
  private double limit;
  private double path; // of the prepared label
  private int devices;
  private int slice;
  private int left; // devices for the layers before
  private @Nullable Placed at;
  private @Nullable TradeOffs tradeOffs;
  private double[] forward = {};
  private double[] backward = {};

  /**
   * @param selective of the same positions; null where stages recompute all their layers or none
   * @param throttle whether a stage may hold fewer micro-batches than its warm-up wants, where
   *     nothing else fits
   * @param bounds shared by the pricers of {@code microBatching}
   */
  FormulaPricer(
      StageCosts costs,
      Request request,
      PlacementCosts placements,
      PipelinePolicy policy,
      @Nullable SelectiveRecomputation selective,
      boolean throttle,
      MicroBatchingBounds bounds,
      MicroBatching microBatching) {
    this.costs = costs;
    this.formula = request.costModel().formula();
    this.placements = placements;
    this.policy = policy;
    this.recomputation = request.recomputation();
    this.selective = selective;
    this.throttle = throttle && policy != PipelinePolicy.ALL; // GPipe holds all of them
    this.bounds = bounds;
    this.microBatching = microBatching.samples();
    this.microBatches = microBatching.microBatches();
    this.opened = new double[formula.width()];
    this.prefixes = bounds.evenly();
  }

  @Override
  public void prepare(double limit) {
    prefixes = bounds.within(formula.pathsAddUp() ? limit : Double.POSITIVE_INFINITY);
  }

  @Override
  public int width() {
    return formula.width();
  }

  @Override
  public void nothing(double[] pool, int at) {
    formula.nothing(pool, at);
  }

  @Override
  public int open(double[] pool, int from, int behind, int end, Step step, double limit) {
    if (step.devices() > microBatching) {
      return -1; // a device without a sample
    }
    System.arraycopy(pool, from, opened, 0, opened.length);
    if (behind > 0) {
      double bytes = costs.cutBytes()[end] * microBatching;
      Transfer transfer = placements.transfer(step.pair());
      double there = transfer.there().seconds(bytes);
      double back = transfer.back().seconds(bytes);
      formula.transfer(opened, 0, there, back, microBatches, 0);
    }
    int free = step.devices() + placements.space().freeDevices(step.next());
    if (bound(opened, 0, end, free) > limit) {
      return -1;
    }
    this.path = formula.pathsAddUp() ? formula.path(opened, 0) : Double.NEGATIVE_INFINITY;
    this.behind = behind;
    this.end = end;
    this.limit = limit;
    this.devices = step.devices();
    this.slice = StageCosts.slice(microBatching, step.devices());
    this.at = placements.placed(step.placement());
    this.forward = costs.forwardSeconds(slice);
    this.backward = costs.backwardSeconds(slice);
    this.left = placements.space().freeDevices(step.next());
    this.tradeOffs = selective == null ? null : selective.tradeOffs(slice);
    return prefixes.latest(end, left, limit / microBatches);
  }

  @Override
  public Outcome stage(double[] pool, int first, int to) {
    Placed here = java.util.Objects.requireNonNull(at);
    double forwardSeconds = (forward[end] - forward[first]) * here.slowdown();
    double backwardSeconds = (backward[end] - backward[first]) * here.slowdown();
    if (microBatches * (forwardSeconds + backwardSeconds) > limit) {
      return prefixes.tooLong(first, end, devices, limit / microBatches)
          ? Outcome.STOP
          : Outcome.SKIP;
    }
    double gradients = costs.gradientBytes()[end] - costs.gradientBytes()[first];
    double tail =
        here.group().allReduce(gradients)
            + (costs.updateSeconds()[end] - costs.updateSeconds()[first]) * here.slowdown();
    double after = first > 0 ? Math.max(tail, prefixes.delay(first, left)) : tail;
    if (path + forwardSeconds + backwardSeconds + after > limit) {
      return Outcome.SKIP;
    }
    double staticBytes = costs.staticBytes(first, end) + costs.workingBytes(slice);
    int inFlight = policy.inFlightOf(behind, microBatches);
    boolean keeps =
        !recomputation.always()
            && staticBytes + inFlight * costs.heldBytes(first, end, slice) <= here.capacity();
    if (!keeps && recomputation == Recomputation.NEVER) {
      double each = costs.heldBytes(first, end, slice);
      if (!throttle || staticBytes + each > here.capacity()) {
        return Outcome.SKIP;
      }
      inFlight = (int) ((here.capacity() - staticBytes) / each);
      keeps = true;
    }
    if (!keeps) {
      double room = here.capacity() - staticBytes;
      inFlight = recomputing(first, inFlight, staticBytes, here.capacity());
      double again = forwardSeconds;
      if (tradeOffs != null && inFlight > 0) {
        double least = tradeOffs.atLeast(first, end, inFlight, room) * here.slowdown();
        double both = forwardSeconds + backwardSeconds + least;
        if (microBatches * both > limit || path + both + after > limit) {
          return Outcome.SKIP;
        }
        again = tradeOffs.extraSeconds(first, end, inFlight, room) * here.slowdown();
      }
      if (inFlight == 0 || again == Double.POSITIVE_INFINITY) {
        return Outcome.SKIP;
      }
      backwardSeconds += again;
    }
    double messages = costs.messageSeconds(first, end, slice);
    forwardSeconds += messages;
    backwardSeconds += messages;
    System.arraycopy(opened, 0, pool, to, opened.length);
    formula.stage(pool, to, forwardSeconds, backwardSeconds, tail, microBatches, inFlight, to);
    return keeps ? Outcome.KEEPS : Outcome.RECOMPUTES;
  }

  /**
   * How many micro-batches a stage that recomputes holds of those wanted; 0 where it does not fit.
   */
  private int recomputing(int first, int wanted, double staticBytes, double capacity) {
    if (tradeOffs != null) {
      return throttle ? tradeOffs.room(first, end, wanted, capacity - staticBytes) : wanted;
    }
    double once = costs.recomputedBytes(first, end, slice);
    double working = staticBytes + recomputation.beyondInputs(once, wanted);
    double input = costs.inputBytes(first, slice);
    if (working + wanted * input <= capacity) {
      return wanted;
    }
    if (!throttle || staticBytes + once + input > capacity) {
      return 0;
    }
    return Math.max(1, (int) ((capacity - working) / input));
  }

  @Override
  public double bound(double[] pool, int at, int first, int free) {
    if (free == 0) {
      return Double.POSITIVE_INFINITY;
    }
    return formula.bound(
        pool, at, prefixes.slowest(first, free), prefixes.delay(first, free), microBatches);
  }

  @Override
  public boolean comparesAcrossStages() {
    return false; // what a stage holds depends on how many are behind it
  }

  @Override
  public boolean covers(double[] pool, int a, int b) {
    for (int i = 0; i < opened.length; i++) {
      if (pool[a + i] > pool[b + i]) {
        return false;
      }
    }
    return true;
  }

  @Override
  public double seconds(double[] pool, int at) {
    return formula.seconds(pool, at);
  }
}
