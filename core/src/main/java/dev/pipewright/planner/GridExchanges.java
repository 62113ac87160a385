package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.SplitConcat;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.StageGroups;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.FlowBound.Message;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * What messages between the ranks of a grid take at least, and the sums of gradients on its ranks.
 *
 * <p>An all-gather or a sum of a part of the parameters takes at least that part of what it takes
 * for all of them, because time for each byte does not grow with the bytes.
 */
final class GridExchanges {
  private final StageCosts costs;
  private final DividedWork work;
  private final CutBytes cuts;
  private final Map<List<Object>, Links> links = Collections.synchronizedMap(new HashMap<>());
  private final Map<List<Object>, Message> between =
      Collections.synchronizedMap(new HashMap<>()); // ranks

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

  GridExchanges(StageCosts costs, DividedWork work, int[] path) {
    this.costs = costs;
    this.work = work;
    this.cuts =
        new CutBytes(
            Arrays.stream(path, 0, path.length - 1)
                .mapToDouble(end -> costs.cutBytes()[end + 1])
                .toArray());
  }

  CutBytes cuts() {
    return cuts;
  }

  /** What follows the passes of stages. */
  StageEnds ends(Grid grid, LayerLoads loads, ScheduleShape shape) {
    if (!known(grid, shape)) {
      return StageEnds.none(loads.size());
    }
    Links least = links(grid, shape.chains());
    return new StageEnds(
        tail(grid, loads, least),
        loads.ofBytes(least.ends(), least.sharedEnds()),
        loads.ofBytes(least.rest(), least.sharedRest()),
        costs.workload().cluster().software().overlap());
  }

  /** Whether it is known which devices sum gradients together. */
  private static boolean known(Grid grid, ScheduleShape shape) {
    return shape.chains() == 1 || !grid.parallelism().several();
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

  /** Of so many messages from a rank to the next, over the narrowest cuts. */
  double[] narrowest(Grid grid, MicroBatching batching, ScheduleShape shape) {
    Links least = links(grid, shape.chains());
    double[] seconds = new double[Math.min(grid.ranks() * shape.chunks(), cuts.size() + 1)];
    for (int count = 1; count < seconds.length; count++) {
      double bytes = narrowest(count) * batching.samples();
      seconds[count] = (cuts.all() ? count * least.latency() : 0) + bytes * least.perByte();
    }
    return seconds;
  }

  /** Of a message from a rank to another. */
  double send(Grid grid, MicroBatching batching, int from, int to) {
    return message(grid, from, to).of(narrowest(1) * batching.samples());
  }

  /** Of messages from the first rank to each, from rank to rank. */
  double[] fromFirst(Grid grid, MicroBatching batching) {
    double[] seconds = new double[grid.ranks()];
    for (int rank = 1; rank < seconds.length; rank++) {
      seconds[rank] = seconds[rank - 1] + send(grid, batching, rank - 1, rank);
    }
    return seconds;
  }

  /** Bytes of a sample over so many of the narrowest cuts. */
  private double narrowest(int count) {
    return cuts.size() == 0 ? 0 : cuts.narrowest(count);
  }

  /** Seconds that a message takes from the passes at both ends, each, at least. */
  double overhead(Grid grid, MicroBatching batching) {
    int slice = StageCosts.slice(batching.samples(), grid.replicas());
    double received = Arrays.stream(work.inputs(slice)).skip(1).min().orElse(0);
    return costs.workload().cluster().software().message().of(received);
  }

  /** Over a cut, from the devices of a rank to those of another, at least. */
  Message message(Grid grid, int from, int to) {
    return from == to
        ? Message.NONE
        : between.computeIfAbsent(
            List.of(grid.ranks(), grid.replicas(), grid.arrangement(), from, to),
            key -> {
              SplitConcat way =
                  SplitConcat.betweenPasses(
                      costs.workload().cluster(), devices(grid, from), devices(grid, to));
              return new Message(way.latencySeconds(), way.secondsPerByte());
            });
  }

  private static int[] devices(Grid grid, int rank) {
    return grid.devices(rank).stream().mapToInt(Integer::intValue).toArray();
  }

  private Links links(Grid grid, int chains) {
    return links.computeIfAbsent(
        List.of(grid.ranks(), grid.replicas(), grid.arrangement(), grid.sharding(), chains),
        key -> newLinks(grid, chains));
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
      StageGroups groups = StageGroups.of(costs, holders, grid.parallelism());
      for (Collectives same : List.of(groups.data(), groups.experts())) {
        ends = Math.min(ends, ends(grid, same));
        rest = Math.min(rest, rest(grid, same));
      }
      sharedEnds = Math.min(sharedEnds, ends(grid, groups.all()));
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
