package dev.pipewright.execution;

import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.GradientOverlap;
import dev.pipewright.cost.PartlyKept;
import dev.pipewright.cost.SplitConcat;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.execution.Emulation.LayerSeconds;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.ConsecutiveSteps;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.StepEnd;
import dev.pipewright.schedule.timed.OpTimes;
import dev.pipewright.schedule.timed.StepTimes;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.SimulatedOracle;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What a profile and a cluster let one expect of an assignment, whatever its schedule: the times of
 * its ops, a step, and the bytes that each rank's workers hold.
 */
public final class Expectation {
  /** Ops before the one that needs a message, from where on a worker has room for it. */
  public static final int OPS_AHEAD = 4;

  /** Gradients that are summed at once: what PyTorch's data parallelism takes, too. */
  public static final long BUCKET_BYTES = 25L << 20;

  private static final int STEADY = 4; // steps, of which the last is like all that follow

  private final StageCosts costs;
  private final Assignment assignment;
  private final List<Integer> devices;
  private final Placement placement;
  private final Emulation emulation;
  private final OpTimes times;

  /**
   * Of workers on the first devices of the cluster.
   *
   * @param costs of the positions of the network's chain
   */
  public Expectation(StageCosts costs, Assignment assignment) {
    this(costs, assignment, IntStream.range(0, assignment.size()).boxed().toList());
  }

  /**
   * The same on any devices.
   *
   * @param devices of the cluster, by worker
   */
  public Expectation(StageCosts costs, Assignment assignment, List<Integer> devices) {
    int there = costs.workload().cluster().size();
    Check.that(
        devices.size() == assignment.size() && devices.stream().allMatch(d -> d < there),
        "each worker needs a device: workers=%d, devices of the cluster=%d",
        assignment.size(),
        there);
    this.costs = costs;
    this.assignment = assignment;
    this.devices = List.copyOf(devices);
    this.placement = assignment.schedule().placement();
    this.emulation = emulation();
    this.times = opTimes();
  }

  /** What each layer takes on the devices of its stage. */
  public Emulation layers() {
    return emulation;
  }

  /** What each op takes. */
  public OpTimes times() {
    return times;
  }

  /** A step alone whose messages are late and in nobody's way: its longest path. */
  public Run longestPath() {
    return StaticSimulator.run(StepEnd.of(assignment.schedule()), times, Conditions.PLAIN);
  }

  /** A step alone; messages of a cut and direction go one after the other. */
  public Run simulate() {
    return StaticSimulator.run(StepEnd.of(assignment.schedule()), times, SimulatedOracle.USUAL);
  }

  /**
   * Seconds from the end of a step to the end of the next. Ranks that are done early begin the next
   * one early, so this may be less than a step alone takes.
   */
  public double simulatedStepSeconds() {
    double before = ending(STEADY - 1);
    return ending(STEADY) - before;
  }

  private double ending(int steps) {
    Schedule schedule = ConsecutiveSteps.of(StepEnd.of(assignment.schedule()), steps);
    return StaticSimulator.run(schedule, times, SimulatedOracle.USUAL).makespan();
  }

  /** The step of the default cost model where it knows the schedule, its longest path otherwise. */
  public double predictedStepSeconds() {
    return assignment
        .asPlan(devices)
        .map(plan -> CostModel.PIPEWRIGHT.oracle(costs).assess(plan).stepSeconds())
        .orElseGet(() -> longestPath().makespan());
  }

  private Emulation emulation() {
    LayerSeconds[] layers = new LayerSeconds[costs.size()];
    for (int depth = 0; depth < placement.depth(); depth++) {
      LayerRange range = assignment.stages().get(depth).range();
      double slowdown = slowdown(depth);
      int slice = slice(depth);
      double[] forward = costs.seconds(Quantity.FORWARD, slice);
      double[] backward = costs.seconds(Quantity.BACKWARD, slice);
      double[] weight = costs.seconds(Quantity.WEIGHT_GRADIENT, slice);
      double[] update = costs.seconds(Quantity.UPDATE, slice);
      for (int at = range.first(); at <= range.last(); at++) {
        layers[at] =
            new LayerSeconds(
                forward[at] * slowdown,
                Math.max(0, backward[at] - weight[at]) * slowdown,
                weight[at] * slowdown,
                update[at] * slowdown);
      }
    }
    return new Emulation(List.of(layers));
  }

  /** Samples of the largest slice that a worker of a stage computes. */
  private int slice(int depth) {
    int fewest = Integer.MAX_VALUE;
    for (int stage = depth; stage < placement.stages(); stage += placement.depth()) {
      fewest = Math.min(fewest, assignment.replicas(placement.rankOf(stage)));
    }
    return StageCosts.slice(microBatch(), fewest);
  }

  /** Samples of the largest micro-batch. */
  private int microBatch() {
    int all = assignment.schedule().microBatches() * placement.chains() / assignment.steps();
    return StageCosts.slice(assignment.batch(), all);
  }

  private double slowdown(int depth) {
    double most = 0;
    for (int worker : assignment.holders(depth)) {
      most = Math.max(most, costs.slowdown(devices.get(worker)));
    }
    return most;
  }

  private OpTimes opTimes() {
    int stages = placement.stages();
    double[] forward = new double[stages];
    double[] input = new double[stages];
    double[] weight = new double[stages];
    double[] there = new double[stages];
    double[] back = new double[stages];
    double[] reduce = new double[stages];
    double[] update = new double[stages];
    for (int stage = 0; stage < stages; stage++) {
      int depth = stage % placement.depth();
      StageLayers layers = assignment.stages().get(depth);
      LayerRange range = layers.range();
      forward[stage] = emulation.seconds(range, LayerSeconds::forward);
      input[stage] = emulation.seconds(range, LayerSeconds::input) + again(layers);
      weight[stage] = emulation.seconds(range, LayerSeconds::weight);
      update[stage] = emulation.seconds(range, LayerSeconds::update);
      reduce[stage] = reduceSeconds(depth);
      if (!placement.last(stage)) {
        double bytes = costs.cutBytes()[range.last() + 1] * microBatch();
        there[stage] = transfer(stage, stage + 1, bytes);
        back[stage] = transfer(stage + 1, stage, bytes);
      }
    }
    double[] none = new double[stages];
    return new OpTimes(
        forward,
        input,
        weight,
        forward,
        there,
        back,
        new StepTimes(none, reduce, none, update),
        false);
  }

  /** Seconds of what a backward pass computes again. */
  private double again(StageLayers layers) {
    return switch (layers.recompute()) {
      case NONE -> 0;
      case STAGE_INPUT -> emulation.seconds(layers.range(), LayerSeconds::forward);
      case SELECTIVE -> {
        double sum = 0;
        for (LayerRange run : layers.again()) {
          sum += emulation.seconds(run, LayerSeconds::forward);
        }
        yield sum;
      }
    };
  }

  private double transfer(int from, int to, double bytes) {
    int sender = placement.rankOf(from);
    int receiver = placement.rankOf(to);
    return sender == receiver
        ? 0
        : SplitConcat.between(costs.workload().cluster(), devices(sender), devices(receiver))
            .seconds(bytes);
  }

  private int[] devices(int rank) {
    int first = assignment.firstWorker(rank);
    return devices.subList(first, first + assignment.workers().get(rank)).stream()
        .mapToInt(Integer::intValue)
        .sorted()
        .toArray();
  }

  /** Seconds of the sum of a stage's gradients that computing does not hide. */
  private double reduceSeconds(int depth) {
    LayerRange range = assignment.stages().get(depth).range();
    int end = range.last() + 1;
    int[] holders = assignment.holders(depth).stream().mapToInt(devices::get).sorted().toArray();
    Collectives group = Collectives.achieved(costs.workload().cluster(), holders);
    return assignment.overlapped()
        ? GradientOverlap.exposedSeconds(
            costs, range.first(), end, slice(depth), slowdown(depth), group)
        : group.allReduce(parameterBytes(range));
  }

  /** The most bytes that each worker of a rank holds. */
  public double[] peakBytes() {
    double[] peaks = new double[placement.ranks()];
    for (int rank = 0; rank < peaks.length; rank++) {
      peaks[rank] = peakBytes(rank) - SharedOut.bytes(costs, assignment, rank);
    }
    return peaks;
  }

  private double peakBytes(int rank) {
    if (costs.workload().profile().saysMemory()) {
      int slice = StageCosts.slice(microBatch(), assignment.replicas(rank));
      return new WorkerPeak(costs, assignment, rank, slice).bytes();
    }
    double now = 0;
    List<Integer> seen = new ArrayList<>();
    for (int stage = 0; stage < placement.stages(); stage++) {
      int depth = stage % placement.depth();
      if (placement.rankOf(stage) == rank && !seen.contains(depth)) {
        LayerRange range = assignment.stages().get(depth).range();
        now += costs.staticBytes(range.first(), range.last() + 1);
        now += olderVersions(depth) * parameterBytes(range);
        seen.add(depth);
      }
    }
    double peak = now;
    for (long op : assignment.schedule().packed(rank)) {
      Held held = held(assignment.stages().get(Schedule.stage(op) % placement.depth()), rank);
      now += Schedule.pass(op) == Pass.FORWARD ? held.bytes : 0;
      peak = Math.max(peak, now + (Schedule.pass(op).propagates() ? held.workingBytes : 0));
      now -= Schedule.pass(op).releases() ? held.bytes : 0;
    }
    return peak;
  }

  /** Of a stage's parameters, where steps flow. */
  private int olderVersions(int depth) {
    return assignment.flow().map(flow -> flow.versions(depth) - 1).orElse(0);
  }

  private double parameterBytes(LayerRange range) {
    return costs.parameterBytes()[range.last() + 1] - costs.parameterBytes()[range.first()];
  }

  /** What a worker of a rank holds of a micro-batch, and needs beyond that to compute it again. */
  private record Held(double bytes, double workingBytes) {}

  private Held held(StageLayers layers, int rank) {
    int slice = StageCosts.slice(microBatch(), assignment.replicas(rank));
    int first = layers.range().first();
    int end = layers.range().last() + 1;
    return switch (layers.recompute()) {
      case NONE -> new Held(costs.heldBytes(first, end, slice), 0);
      case STAGE_INPUT ->
          new Held(costs.inputBytes(first, slice), costs.recomputedBytes(first, end, slice));
      case SELECTIVE -> {
        List<LayerRange> again =
            layers.again().stream()
                .map(run -> new LayerRange(run.first() - first, run.last() - first))
                .toList();
        PartlyKept kept = PartlyKept.of(costs.layers(first, end, slice), again);
        yield new Held(kept.heldBytes(), kept.workingBytes());
      }
    };
  }
}
