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

/**
 * What the grids of one kind of parallelism within layers take at least ({@link GridBound}): with
 * the least that its exchanges take on the devices of its ranks.
 *
 * <p>An all-gather or a sum of a part of the parameters takes at least that part of what it takes
 * for all of them, because time for each byte does not grow with the bytes.
 */
final class PipelineBounds {
  private static final Request KEEPING = Request.of(1).recomputing(Recomputation.NEVER);

  private final StageCosts costs;
  private final DividedWork work;
  private final int[] path;
  private final Recomputation recomputation;
  private final PipelineOracle oracle;
  private final double capacity; // bytes of the largest device
  private final double cutBytes; // of a sample, over the narrowest cut
  private final Map<List<Object>, Links> links = new HashMap<>();

  /**
   * What the devices of a grid need at least.
   *
   * @param ends seconds of all that follows the passes and nothing hides, for each byte of weights
   *     that only replicas have
   * @param sharedEnds the same for those that all devices of a rank have
   * @param latency of a message from a rank to the next
   * @param perByte seconds of each of its bytes beyond that
   */
  private record Links(double ends, double sharedEnds, double latency, double perByte) {}

  PipelineBounds(StageCosts costs, DividedWork work, int[] path, Recomputation recomputation) {
    this.costs = costs;
    this.work = work;
    this.path = path;
    this.recomputation = recomputation;
    this.oracle = new PipelineOracle(costs, new PathFormula());
    this.capacity = costs.workload().cluster().mostMemory().value();
    this.cutBytes =
        Arrays.stream(path, 0, path.length - 1)
            .mapToDouble(end -> costs.cutBytes()[end + 1])
            .min()
            .orElse(0);
  }

  /** Of a step with schedules of some shape; infinite where memory does not suffice. */
  double seconds(Grid grid, MicroBatching batching, ScheduleShape shape) {
    int slice = StageCosts.slice(batching.samples(), grid.replicas());
    LayerLoads loads = work.loads(slice).split(shape.splits());
    if ((long) grid.ranks() * shape.chunks() > loads.size()) {
      return Double.POSITIVE_INFINITY;
    }
    Links least =
        links.computeIfAbsent(
            List.of(grid.ranks(), grid.replicas(), grid.neighbours(), grid.sharding()),
            key -> newLinks(grid));
    boolean whole = grid.sharding() == ZeroStage.NOTHING; // each device updates all it has
    double[] tail = new double[loads.size()];
    if (shape.straight()) { // otherwise a rank's next stage goes on meanwhile
      Arrays.setAll(
          tail,
          at ->
              loads.own()[at] * least.ends()
                  + loads.shared()[at] * least.sharedEnds()
                  + loads.update()[at] * (whole ? 1 : work.partOfUpdate(at) / grid.replicas()));
    }
    double bytes = cutBytes * batching.samples();
    double received = cutBytes * slice;
    double states = work.stateBytes(grid.ranks(), grid.replicas(), grid.sharding(), shape.copies());
    double bound =
        new GridBound(
                loads,
                grid.ranks(),
                batching.microBatches(),
                shape,
                recomputation,
                tail,
                bytes == 0 ? 0 : least.latency() + bytes * least.perByte(),
                costs.workload().cluster().software().message().of(received))
            .seconds(capacity - states, work.part().workingBytes(slice));
    return grid.ranks() == 1 && shape.straight() && Double.isFinite(bound)
        ? Math.max(bound, oneStage(grid, batching))
        : bound;
  }

  /**
   * Of a single stage, in full, when it recomputes nothing. Recomputation adds work, which hides no
   * more seconds of exchanges than it takes itself, so no such step is shorter.
   */
  private double oneStage(Grid grid, MicroBatching batching) {
    PipelinePlan plan =
        new CutPlans(grid, batching, KEEPING, path)
            .plan(PipelinePolicy.A, batching.microBatches(), new int[] {0}, new double[] {0});
    double seconds = oracle.assess(plan).stepSeconds();
    return plan.sharding() == ZeroStage.NOTHING
        ? Math.min(seconds, oracle.assess(plan.overlapping(!plan.overlapGradients())).stepSeconds())
        : seconds;
  }

  private Links newLinks(Grid grid) {
    double ends = Double.POSITIVE_INFINITY;
    double sharedEnds = Double.POSITIVE_INFINITY;
    double latency = Double.POSITIVE_INFINITY;
    double perByte = Double.POSITIVE_INFINITY;
    Cluster cluster = costs.workload().cluster();
    int[] before = {};
    for (int rank = 0; rank < grid.ranks(); rank++) {
      int[] devices = grid.devices(rank).stream().mapToInt(Integer::intValue).toArray();
      StageGroups groups = StageGroups.of(costs, devices, grid.parallelism().parts());
      ends = Math.min(ends, ends(grid, groups.data()));
      sharedEnds = Math.min(sharedEnds, ends(grid, groups.all()));
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
        ? new Links(ends, sharedEnds, 0, 0)
        : new Links(ends, sharedEnds, latency, perByte);
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
