package dev.pipewright.cost;

import dev.pipewright.exchange.TiedStates;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.Placement;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the stages of an assignment are to the workers that hold them. */
public final class StageLoads {
  private final StageCosts costs; // of whole layers
  private final Function<Parallelism, StageCosts> shared; // of a worker's part of them
  private final Assignment assignment;
  private final List<Integer> devices; // by worker
  private final BiFunction<List<Integer>, Parallelism, StageGroups> groups; // of devices
  private final Map<Integer, StageGroups> known = new HashMap<>(); // by rank or depth
  private final @Nullable StageCosts[] parts; // by depth, once they are asked for
  private final double[] paces; // likewise, or 0
  private final int[] slices;

  /**
   * @param costs of whole layers
   * @param devices of the cluster, by worker
   */
  public StageLoads(StageCosts costs, Assignment assignment, List<Integer> devices) {
    this(
        costs,
        parts(costs, assignment.dividesAlike()),
        (holders, split) -> StageGroups.of(costs, indices(holders), split),
        assignment,
        devices);
  }

  private static Function<Parallelism, StageCosts> parts(StageCosts costs, boolean alike) {
    Map<Parallelism, StageCosts> known = new HashMap<>();
    return split ->
        known.computeIfAbsent(
            split, each -> new StageCosts(ShardedProfile.of(costs.workload(), each, alike)));
  }

  /**
   * Where the costs of a worker's part of layers, and groups of devices, are known.
   *
   * @param costs of whole layers
   * @param shared of a worker's part of them
   * @param groups of devices that divide layers so
   * @param devices of the cluster, by worker
   */
  StageLoads(
      StageCosts costs,
      Function<Parallelism, StageCosts> shared,
      BiFunction<List<Integer>, Parallelism, StageGroups> groups,
      Assignment assignment,
      List<Integer> devices) {
    this.costs = costs;
    this.shared = shared;
    this.groups = groups;
    this.assignment = assignment;
    this.devices = devices;
    int depths = assignment.stages().size();
    this.parts = new StageCosts[depths];
    this.paces = new double[depths];
    this.slices = new int[depths];
  }

  /** What whole layers cost. */
  public StageCosts whole() {
    return costs;
  }

  /** What the layers of a stage cost one of its workers. */
  public StageCosts costs(int depth) {
    StageCosts known = parts[depth];
    if (known == null) {
      Parallelism split = assignment.stages().get(depth).split();
      known = split.several() ? shared.apply(split) : costs;
      parts[depth] = known;
    }
    return known;
  }

  /** The device of a worker. */
  public int device(int worker) {
    return devices.get(worker);
  }

  /** The devices of a rank, ascending. */
  public int[] devices(int rank) {
    int first = assignment.firstWorker(rank);
    int[] found = indices(devices.subList(first, first + assignment.workers().get(rank)));
    Arrays.sort(found);
    return found;
  }

  private static int[] indices(List<Integer> devices) {
    return devices.stream().mapToInt(Integer::intValue).toArray();
  }

  /** Who communicates with whom among those that hold a stage. */
  StageGroups groups(int depth) {
    Placement placement = assignment.schedule().placement();
    boolean alike = placement.chains() == 1; // all stages of a rank
    return known.computeIfAbsent(
        alike ? placement.rankOf(depth) : depth,
        key ->
            groups.apply(
                devicesOf(assignment.holders(depth)), assignment.stages().get(depth).split()));
  }

  /** The workers that hold a tied table, as a group. */
  public Collectives group(TiedStates tied) {
    int[] members = indices(devicesOf(tied.members()));
    Arrays.sort(members);
    return Collectives.achieved(costs.workload().cluster(), members);
  }

  private List<Integer> devicesOf(List<Integer> workers) {
    return workers.stream().map(devices::get).toList();
  }

  /** Samples of the largest slice that a worker of a stage computes. */
  public int slice(int depth) {
    if (slices[depth] == 0) {
      slices[depth] = newSlice(depth);
    }
    return slices[depth];
  }

  private int newSlice(int depth) {
    Placement placement = assignment.schedule().placement();
    int fewest = Integer.MAX_VALUE;
    for (int stage = depth; stage < placement.stages(); stage += placement.depth()) {
      fewest = Math.min(fewest, assignment.replicas(placement.rankOf(stage)));
    }
    return StageCosts.slice(microBatch(), fewest);
  }

  /** Samples of the largest micro-batch. */
  public int microBatch() {
    int chains = assignment.schedule().placement().chains();
    int all = assignment.schedule().microBatches() * chains / assignment.steps();
    return StageCosts.slice(assignment.batch(), all);
  }

  /** How many times slower than the profile's device the slowest of a stage is. */
  public double slowdown(int depth) {
    return groups(depth).slowdown();
  }

  /** Seconds of a pass for each second on the profile's device, waiting for others included. */
  public double pace(int depth) {
    if (paces[depth] == 0) {
      paces[depth] = newPace(depth);
    }
    return paces[depth];
  }

  private double newPace(int depth) {
    return slowdown(depth) * costs.workload().cluster().software().waiting(assignment.size());
  }

  /** Of some layers of a stage, on its slowest device. */
  public double seconds(Quantity quantity, int depth, LayerRange range) {
    double seconds = costs(depth).seconds(quantity, slice(depth), range.first(), range.last() + 1);
    return seconds * (quantity == Quantity.UPDATE ? slowdown(depth) : pace(depth));
  }

  /** Of the parameters that a worker has of a stage. */
  public double parameterBytes(int depth) {
    LayerRange range = assignment.stages().get(depth).range();
    return costs(depth).parameterBytes(range.first(), range.last() + 1);
  }
}
