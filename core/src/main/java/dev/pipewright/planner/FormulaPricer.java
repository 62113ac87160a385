package dev.pipewright.planner;

import dev.pipewright.cost.AllReduce;
import dev.pipewright.cost.PipelineFormula;
import dev.pipewright.cost.SplitConcat;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.PlacementSpace.Step;
import dev.pipewright.planner.Request.Recomputation;
import dev.pipewright.schedule.WarmUp;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Prices stages on the real topology, under the memory limit, and combines them by a {@link
 * PipelineFormula}: the same numbers as {@link dev.pipewright.cost.PipelineOracle}, O(1) each.
 */
final class FormulaPricer implements StagePricer {
  private final StageCosts costs;
  private final PipelineFormula formula;
  private final PlacementSpace space;
  private final WarmUp warmUp;
  private final Recomputation recomputation;
  private final boolean throttle;
  private final int wave;
  private final int microBatches;
  private final double[] cheapest; // seconds per sample of the layers before a position
  private final double fastest; // slowdown of the fastest device
  private final List<Placed> placed = new ArrayList<>(); // by placement number
  private final Map<Long, Transfer> transfers = new HashMap<>();

  // what open() prepares for stage()
  private final double[] opened;
  private int behind;
  private int end;
  private double limit;
  private int slice;
  private @Nullable Placed at;
  private double[] forward = {};
  private double[] backward = {};

  /** What a device set has to do with a stage's price. */
  private record Placed(AllReduce allReduce, double slowdown, double capacity) {}

  private record Transfer(SplitConcat there, SplitConcat back) {}

  /**
   * @param wave samples of a micro-batch over all copies of the pipeline
   * @param throttle whether a stage may hold fewer micro-batches than its warm-up wants, where
   *     nothing else fits
   */
  FormulaPricer(
      StageCosts costs,
      PipelineFormula formula,
      PlacementSpace space,
      WarmUp warmUp,
      Recomputation recomputation,
      boolean throttle,
      int wave,
      int microBatches) {
    this.costs = costs;
    this.formula = formula;
    this.space = space;
    this.warmUp = warmUp;
    this.recomputation = recomputation;
    this.throttle = throttle;
    this.wave = wave;
    this.microBatches = microBatches;
    this.cheapest = costs.cheapestSecondsPerSample(wave);
    this.opened = new double[formula.width()];
    double least = Double.POSITIVE_INFINITY;
    for (int device = 0; device < costs.workload().cluster().size(); device++) {
      least = Math.min(least, costs.slowdown(device));
    }
    this.fastest = least;
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
  public boolean open(double[] pool, int from, int behind, int end, Step step, double limit) {
    if (step.devices() > wave) {
      return false; // a device without a sample
    }
    System.arraycopy(pool, from, opened, 0, opened.length);
    if (behind > 0) {
      double bytes = costs.cutBytes()[end] * wave;
      Transfer transfer = transfer(step.placement(), step.neighbour());
      double there = transfer.there.seconds(bytes);
      double back = transfer.back.seconds(bytes);
      formula.transfer(opened, 0, there, back, microBatches, 0);
      if (formula.bound(opened, 0, 0, microBatches) > limit) {
        return false;
      }
    }
    this.behind = behind;
    this.end = end;
    this.limit = limit;
    this.slice = StageCosts.slice(wave, step.devices());
    this.at = placed(step.placement());
    this.forward = costs.forwardSeconds(slice);
    this.backward = costs.backwardSeconds(slice);
    return true;
  }

  @Override
  public Outcome stage(double[] pool, int first, int to) {
    Placed here = java.util.Objects.requireNonNull(at);
    double forwardSeconds = (forward[end] - forward[first]) * here.slowdown;
    double backwardSeconds = (backward[end] - backward[first]) * here.slowdown;
    if (microBatches * (forwardSeconds + backwardSeconds) > limit) {
      return costs.workload().chain().total() ? Outcome.STOP : Outcome.SKIP;
    }
    double staticBytes = costs.staticBytes(first, end);
    int inFlight = warmUp.inFlightOf(behind, microBatches);
    boolean keeps =
        recomputation != Recomputation.ALWAYS
            && staticBytes + inFlight * costs.heldBytes(first, end, slice) <= here.capacity;
    if (!keeps) {
      if (recomputation == Recomputation.NEVER && !throttle) {
        return Outcome.SKIP;
      }
      double working = staticBytes + costs.recomputedBytes(first, end, slice);
      double input = costs.inputBytes(first, slice);
      if (working + inFlight * input > here.capacity) {
        if (!throttle || working + input > here.capacity) {
          return Outcome.SKIP;
        }
        inFlight = (int) ((here.capacity - working) / input);
      }
      backwardSeconds += forwardSeconds;
    }
    double gradients = costs.parameterBytes()[end] - costs.parameterBytes()[first];
    double tail =
        here.allReduce.seconds(gradients)
            + (costs.updateSeconds()[end] - costs.updateSeconds()[first]) * here.slowdown;
    System.arraycopy(opened, 0, pool, to, opened.length);
    formula.stage(pool, to, forwardSeconds, backwardSeconds, tail, microBatches, inFlight, to);
    return keeps ? Outcome.KEEPS : Outcome.RECOMPUTES;
  }

  @Override
  public double bound(double[] pool, int at, int first, int free) {
    if (free == 0) {
      return Double.POSITIVE_INFINITY;
    }
    double stageSeconds = cheapest[first] * fastest * wave / free;
    return formula.bound(pool, at, stageSeconds, microBatches);
  }

  @Override
  public double seconds(double[] pool, int at) {
    return formula.seconds(pool, at);
  }

  private Placed placed(int placement) {
    while (placed.size() <= placement) {
      placed.add(place(space.devices(placed.size())));
    }
    return placed.get(placement);
  }

  private Placed place(int[] devices) {
    double slowdown = 0;
    double capacity = Double.POSITIVE_INFINITY;
    for (int device : devices) {
      slowdown = Math.max(slowdown, costs.slowdown(device));
      capacity =
          Math.min(capacity, (double) costs.workload().cluster().device(device).memory().value());
    }
    AllReduce allReduce = AllReduce.over(costs.workload().cluster(), devices);
    return new Placed(allReduce, slowdown, capacity);
  }

  private Transfer transfer(int from, int to) {
    Long key = (long) from << 32 | to;
    Transfer known = transfers.get(key);
    if (known == null) {
      int[] senders = space.devices(from);
      int[] receivers = space.devices(to);
      known =
          new Transfer(
              SplitConcat.between(costs.workload().cluster(), senders, receivers),
              SplitConcat.between(costs.workload().cluster(), receivers, senders));
      transfers.put(key, known);
    }
    return known;
  }
}
