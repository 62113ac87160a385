package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.SplitConcat;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.StageGroups;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * What the grids of one kind of parallelism within layers take at least ({@link GridBound}): with
 * the least that its exchanges take on the devices of its ranks.
 *
 * <p>An all-gather or a sum of a part of the parameters takes at least that part of what it takes
 * for all of them, because time for each byte does not grow with the bytes.
 */
final class PipelineBounds {
  private static final int HALVINGS = 10;
  private static final double MOST = 1.5; // times a bound that is raised
  private static final Request KEEPING = Request.of(1).recomputing(Recomputation.NEVER);

  private final StageCosts costs;
  private final DividedWork work;
  private final int[] path;
  private final Recomputation recomputation;
  private final PipelineOracle oracle;
  private final double capacity; // bytes of the largest device
  private final double cutBytes; // of a sample, over the narrowest cut
  private final Map<List<Object>, Links> links = new HashMap<>();
  private final Map<List<Object>, Link> between = new HashMap<>(); // ranks
  private final RankSpeeds speeds;

  /** Seconds of a message between two ranks. */
  private record Link(double latency, double perByte) {}

  /**
   * What the devices of a grid need at least.
   *
   * @param ends seconds of all that follows the passes and nothing hides, for each byte of weights
   *     that only replicas have
   * @param sharedEnds the same for those that all devices of a rank have
   * @param rest the same of the sums that overlap where there is something to compute
   * @param sharedRest of those that all devices of a rank have
   * @param latency of a message from a rank to the next
   * @param perByte seconds of each of its bytes beyond that
   */
  private record Links(
      double ends,
      double sharedEnds,
      double rest,
      double sharedRest,
      double latency,
      double perByte) {}

  PipelineBounds(StageCosts costs, DividedWork work, int[] path, Recomputation recomputation) {
    this.costs = costs;
    this.work = work;
    this.path = path;
    this.recomputation = recomputation;
    this.oracle = new PipelineOracle(costs, new PathFormula());
    this.speeds = new RankSpeeds(costs);
    this.capacity = costs.workload().cluster().mostMemory().value();
    this.cutBytes =
        Arrays.stream(path, 0, path.length - 1)
            .mapToDouble(end -> costs.cutBytes()[end + 1])
            .min()
            .orElse(0);
  }

  /** Of a step with schedules of some shape; infinite where memory does not suffice. */
  double seconds(Grid grid, MicroBatching batching, ScheduleShape shape) {
    LayerLoads loads = loads(grid, batching, shape);
    if ((long) grid.ranks() * shape.chunks() > loads.size()) {
      return Double.POSITIVE_INFINITY;
    }
    double bound =
        Math.max(
            grid(grid, batching, shape).seconds(free(grid, shape), working(grid, batching)),
            speeds.seconds(
                grid,
                batching.microBatches(),
                loads.passes(),
                work.exchanges(StageCosts.slice(batching.samples(), grid.replicas()))));
    return grid.ranks() == 1 && shape.straight() && Double.isFinite(bound)
        ? Math.max(bound, oneStage(grid, batching))
        : bound;
  }

  /**
   * The same with bounds that take longer: of memory, of the order of work where it is known, and
   * of all orders where stages go there and back over the ranks.
   *
   * @param folded whether they do: then each rank has two
   * @param enough no higher bound is asked for
   */
  double thorough(
      Grid grid,
      MicroBatching batching,
      ScheduleShape shape,
      List<WorkOrder> orders,
      boolean folded,
      double enough) {
    LayerLoads loads = loads(grid, batching, shape);
    if (grid.ranks() * shape.chunks() > loads.size()) {
      return Double.POSITIVE_INFINITY;
    }
    double bound = keeping(grid, batching, shape, orders, enough);
    for (WorkOrder order : orders) {
      bound = bound < enough ? Math.max(bound, ordered(grid, batching, shape, order)) : bound;
    }
    int folds = orders.isEmpty() ? folded ? 1 : 0 : orders.get(0).folds();
    if (folds > 0 && bound < enough) {
      int[] inFlight = orders.isEmpty() ? new int[0] : orders.get(0).inFlight();
      double quick = Math.max(bound, seconds(grid, batching, shape));
      bound = raised(folds(grid, batching, loads, folds, inFlight), quick, enough);
    }
    return bound < enough && remembers(grid, shape)
        ? Math.max(
            bound,
            memory(grid, batching, shape)
                .overTime(
                    grid.ranks() * shape.chunks(), grid(grid, batching, shape).mean(), enough))
        : bound;
  }

  /**
   * Of what stages keep at once; 0 where all is recomputed, or the order of work is not known.
   *
   * @param enough no higher bound is asked for
   */
  double keeping(
      Grid grid,
      MicroBatching batching,
      ScheduleShape shape,
      List<WorkOrder> orders,
      double enough) {
    return !orders.isEmpty() && remembers(grid, shape)
        ? memory(grid, batching, shape)
            .atOnce(orders.get(0).inFlight(), grid(grid, batching, shape).mean(), enough)
        : 0;
  }

  private boolean remembers(Grid grid, ScheduleShape shape) {
    return !recomputation.always() && free(grid, shape) > 0;
  }

  private StageMemoryBound memory(Grid grid, MicroBatching batching, ScheduleShape shape) {
    return new StageMemoryBound(
        loads(grid, batching, shape),
        work.inputs(StageCosts.slice(batching.samples(), grid.replicas())),
        grid.ranks(),
        batching.microBatches(),
        shape.splits(),
        recomputation,
        free(grid, shape),
        working(grid, batching));
  }

  private double ordered(Grid grid, MicroBatching batching, ScheduleShape shape, WorkOrder order) {
    LayerLoads loads = loads(grid, batching, shape);
    boolean known = shape.chains() == 1 || !grid.parallelism().several(); // who sums gradients
    Links least = links(grid, shape.chains());
    double[] nothing = new double[loads.size()];
    return new OrderBound(
            loads,
            known ? tail(grid, loads, least) : nothing,
            known ? loads.ofBytes(least.rest(), least.sharedRest()) : nothing,
            (from, to) -> send(grid, batching, from, to))
        .seconds(order, grid.ranks());
  }

  private FoldedBound folds(
      Grid grid, MicroBatching batching, LayerLoads loads, int folds, int[] inFlight) {
    Links least = links(grid, 1);
    boolean one = folds == 1; // otherwise passes of the other direction may hide sums
    double[] nothing = new double[loads.size()];
    return new FoldedBound(
        loads,
        new FoldedMemory(
            loads,
            work.inputs(StageCosts.slice(batching.samples(), grid.replicas())),
            work.stateBytes(grid.replicas() * folds, grid.sharding()),
            capacity,
            folds,
            inFlight,
            recomputation),
        one ? loads.ofBytes(least.ends(), least.sharedEnds()) : nothing,
        one ? loads.ofBytes(least.rest(), least.sharedRest()) : nothing,
        one ? sends(grid, batching) : new double[grid.ranks() / folds],
        batching.microBatches() / folds);
  }

  /** By halving what is between a bound and {@code enough}. */
  private static double raised(FoldedBound orders, double bound, double enough) {
    double none = bound;
    double some = Math.min(enough, MOST * bound);
    if (!orders.isPossible(some)) {
      return some;
    }
    for (int i = 0; i < HALVINGS; i++) {
      double middle = (none + some) / 2;
      if (orders.isPossible(middle)) {
        some = middle;
      } else {
        none = middle;
      }
    }
    return none;
  }

  private LayerLoads loads(Grid grid, MicroBatching batching, ScheduleShape shape) {
    int slice = StageCosts.slice(batching.samples(), grid.replicas());
    return work.loads(slice).split(shape.splits());
  }

  /** Bytes of a rank's device that states leave, the mean over the ranks. */
  private double free(Grid grid, ScheduleShape shape) {
    return capacity
        - work.stateBytes(grid.ranks(), grid.replicas(), grid.sharding(), shape.copies());
  }

  private double working(Grid grid, MicroBatching batching) {
    return work.part().workingBytes(StageCosts.slice(batching.samples(), grid.replicas()));
  }

  private GridBound grid(Grid grid, MicroBatching batching, ScheduleShape shape) {
    LayerLoads loads = loads(grid, batching, shape);
    Links least = links(grid, 1);
    double[] tail = // otherwise a rank's next stage goes on meanwhile
        shape.straight() ? tail(grid, loads, least) : new double[loads.size()];
    double received = cutBytes * StageCosts.slice(batching.samples(), grid.replicas());
    return new GridBound(
        loads,
        grid.ranks(),
        batching.microBatches(),
        shape,
        recomputation,
        tail,
        send(batching, least),
        costs.workload().cluster().software().message().of(received));
  }

  /** Of a message from a rank to the next. */
  private double send(MicroBatching batching, Links least) {
    double bytes = cutBytes * batching.samples();
    return bytes == 0 ? 0 : least.latency() + bytes * least.perByte();
  }

  /** Of a message from a rank to another. */
  private double send(Grid grid, MicroBatching batching, int from, int to) {
    double bytes = cutBytes * batching.samples();
    Link link =
        between.computeIfAbsent(
            List.of(grid.ranks(), grid.replicas(), grid.arrangement(), from, to),
            key -> {
              SplitConcat way =
                  SplitConcat.betweenPasses(
                      costs.workload().cluster(), devices(grid, from), devices(grid, to));
              return new Link(way.latencySeconds(), way.secondsPerByte());
            });
    return bytes == 0 ? 0 : link.latency() + bytes * link.perByte();
  }

  /** Of messages from the first rank to each, from rank to rank. */
  private double[] sends(Grid grid, MicroBatching batching) {
    double[] seconds = new double[grid.ranks()];
    for (int rank = 1; rank < seconds.length; rank++) {
      seconds[rank] = seconds[rank - 1] + send(grid, batching, rank - 1, rank);
    }
    return seconds;
  }

  private static int[] devices(Grid grid, int rank) {
    return grid.devices(rank).stream().mapToInt(Integer::intValue).toArray();
  }

  /** What each run of layers adds to the sum of a stage's gradients, and to its update. */
  private double[] tail(Grid grid, LayerLoads loads, Links least) {
    boolean whole = grid.sharding() == ZeroStage.NOTHING; // each device updates all it has
    double[] tail = loads.ofBytes(least.ends(), least.sharedEnds());
    for (int at = 0; at < tail.length; at++) {
      tail[at] += loads.update()[at] * (whole ? 1 : work.partOfUpdate(at) / grid.replicas());
    }
    return tail;
  }

  private Links links(Grid grid, int chains) {
    return links.computeIfAbsent(
        List.of(grid.ranks(), grid.replicas(), grid.arrangement(), grid.sharding(), chains),
        key -> newLinks(grid, chains));
  }

  /**
   * Of a single stage, in full, when it recomputes nothing. Recomputation adds work, which hides no
   * more seconds of exchanges than it takes itself, so no such step is shorter.
   */
  private double oneStage(Grid grid, MicroBatching batching) {
    PipelinePlan plan =
        new CutPlans(grid, batching, KEEPING, path)
            .plan(
                PipelinePolicy.A,
                batching.microBatches(),
                new int[] {0},
                new double[] {0},
                grid.overlaps());
    double seconds = oracle.assess(plan).stepSeconds();
    return plan.sharding() == ZeroStage.NOTHING
        ? Math.min(seconds, oracle.assess(plan.overlapping(!plan.overlapGradients())).stepSeconds())
        : seconds;
  }

  /**
   * Of the devices that hold the same stage.
   *
   * @param chains directions: each rank has the stages of the one opposite, too
   */
  private Links newLinks(Grid grid, int chains) {
    double rest = Double.POSITIVE_INFINITY;
    double sharedRest = Double.POSITIVE_INFINITY;
    double ends = Double.POSITIVE_INFINITY;
    double sharedEnds = Double.POSITIVE_INFINITY;
    double latency = Double.POSITIVE_INFINITY;
    double perByte = Double.POSITIVE_INFINITY;
    Cluster cluster = costs.workload().cluster();
    int[] before = {};
    for (int rank = 0; rank < grid.ranks(); rank++) {
      int[] devices = devices(grid, rank);
      int[] holders = chains == 1 ? devices : both(devices, grid.ranks() - 1 - rank, grid);
      StageGroups groups = StageGroups.of(costs, holders, grid.parallelism().parts());
      ends = Math.min(ends, ends(grid, groups.data()));
      sharedEnds = Math.min(sharedEnds, ends(grid, groups.all()));
      rest = Math.min(rest, rest(grid, groups.data()));
      sharedRest = Math.min(sharedRest, rest(grid, groups.all()));
      if (rank > 0) {
        for (SplitConcat way :
            List.of(
                SplitConcat.betweenPasses(cluster, before, devices),
                SplitConcat.betweenPasses(cluster, devices, before))) {
          latency = Math.min(latency, way.latencySeconds());
          perByte = Math.min(perByte, way.secondsPerByte());
        }
      }
      before = devices;
    }
    return grid.ranks() == 1
        ? new Links(ends, sharedEnds, rest, sharedRest, 0, 0)
        : new Links(ends, sharedEnds, rest, sharedRest, latency, perByte);
  }

  private static int[] both(int[] devices, int opposite, Grid grid) {
    return IntStream.concat(Arrays.stream(devices), Arrays.stream(devices(grid, opposite)))
        .distinct()
        .sorted()
        .toArray();
  }

  /**
   * Of gradients that are summed while other passes run, where there are such passes: what of that
   * {@link #ends} leaves out.
   */
  private double rest(Grid grid, Collectives group) {
    StageCosts part = work.part();
    double bytes = part.parameterBytes()[part.size()];
    if (group.members() == 1 || grid.sharding() != ZeroStage.OPTIMIZER || bytes == 0) {
      return 0;
    }
    double gradients = part.gradientBytes()[part.size()];
    return costs.workload().cluster().software().overlap() * group.reduceScatter(gradients) / bytes;
  }

  /**
   * Of optimizer states that are sharded new parameters are gathered after the update: seconds for
   * each byte of parameters, where a group sums the gradients of all.
   */
  private double ends(Grid grid, Collectives group) {
    StageCosts part = work.part();
    double bytes = part.parameterBytes()[part.size()];
    if (group.members() == 1 || grid.sharding() == ZeroStage.PARAMETERS || bytes == 0) {
      return 0;
    }
    double gradients = part.gradientBytes()[part.size()];
    if (grid.sharding() == ZeroStage.NOTHING) {
      boolean hidden = grid.parallelism().several() || grid.overlaps();
      return hidden ? 0 : group.allReduce(gradients) / bytes;
    }
    double slower = 1 - costs.workload().cluster().software().overlap();
    return (group.allGather(bytes) + slower * group.reduceScatter(gradients)) / bytes;
  }
}
