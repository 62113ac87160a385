package dev.pipewright.bench;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.alpa.InterOperatorPlanner;
import dev.pipewright.planner.alpa.InterOperatorPlanner.Pipeline;
import dev.pipewright.planner.alpa.StageTable;
import dev.pipewright.planner.partition.UniformWeights;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Stages as Alpa's inter-operator pass constructs them, where devices of a stage share samples: of
 * at most so many blocks of layers, on powers of two of devices of a machine or on whole machines.
 * As there, transfers between stages are free; a stage's all-reduce is spread over the
 * micro-batches.
 */
final class InterOperatorStages {
  private static final int MOST_BLOCKS = 48;

  private InterOperatorStages() {}

  static List<Proposal> of(PlannedNetwork network) {
    int[] places = blocks(network);
    StageCosts costs = network.costs().cutOnlyAt(places);
    int[] shapes = shapes(network.cluster());
    StageTable table = table(costs, network, shapes);
    return InterOperatorPlanner.plan(
            table, network.devices(), network.globalBatch() / network.microBatch())
        .map(found -> proposal(found, places, shapes))
        .stream()
        .toList();
  }

  private static Proposal proposal(Pipeline found, int[] places, int[] shapes) {
    List<Integer> firsts = new ArrayList<>();
    List<List<Integer>> devices = new ArrayList<>();
    int[] next = {0};
    for (InterOperatorPlanner.Stage stage : found.stages()) {
      firsts.add(places[stage.first()]);
      int count = shapes[stage.shape()];
      devices.add(IntStream.range(next[0], next[0] + count).boxed().toList());
      next[0] += count;
    }
    return new Proposal.Stages(firsts, devices);
  }

  /** Places to cut at: along one way through branches, the heaviest block as light as possible. */
  private static int[] blocks(PlannedNetwork network) {
    int[] path = network.path();
    int[] ends = IntStream.concat(IntStream.of(0), Arrays.stream(path).map(at -> at + 1)).toArray();
    StageCosts along = network.costs().cutOnlyAt(ends);
    double[] sums = along.cheapestSecondsPerSample(network.microBatch());
    double[] seconds = new double[path.length];
    Arrays.setAll(seconds, i -> Math.max(0, sums[i + 1] - sums[i]));
    int[] firsts = UniformWeights.firsts(seconds, Math.min(MOST_BLOCKS, path.length));
    return IntStream.concat(Arrays.stream(firsts), IntStream.of(path.length))
        .map(i -> ends[i])
        .toArray();
  }

  private static int[] shapes(Cluster cluster) {
    int machine = cluster.groups().get(0).get(0);
    List<Integer> shapes = new ArrayList<>();
    for (int devices = 1; devices < machine; devices *= 2) {
      shapes.add(devices);
    }
    for (int devices = machine; devices <= cluster.size(); devices += machine) {
      shapes.add(devices);
    }
    return shapes.stream().mapToInt(Integer::intValue).toArray();
  }

  private static StageTable table(StageCosts costs, PlannedNetwork network, int[] shapes) {
    int layers = costs.size();
    int samples = network.microBatch();
    int microBatches = network.globalBatch() / samples;
    double capacity = network.cluster().device(0).memory().value();
    double[][][] seconds = new double[layers][layers][shapes.length];
    int[][][] mostBehind = new int[layers][layers][shapes.length];
    for (int shape = 0; shape < shapes.length; shape++) {
      int slice = StageCosts.slice(samples, shapes[shape]);
      double[] forward = costs.forwardSeconds(slice);
      double[] backward = costs.backwardSeconds(slice);
      int[] devices = IntStream.range(0, shapes[shape]).toArray();
      Collectives group = Collectives.achieved(network.cluster(), devices);
      for (int first = 0; first < layers; first++) {
        for (int end = first + 1; end <= layers; end++) {
          double reduce =
              group.allReduce(costs.parameterBytes()[end] - costs.parameterBytes()[first]);
          double computing = forward[end] - forward[first] + backward[end] - backward[first];
          seconds[first][end - 1][shape] = Math.max(0, computing) + reduce / microBatches;
          double room = capacity - costs.staticBytes(first, end);
          double held = costs.heldBytes(first, end, slice);
          double fitting = room < 0 ? 0 : Math.min(network.devices(), room / held);
          mostBehind[first][end - 1][shape] = (int) fitting - 1;
        }
      }
    }
    return new StageTable(shapes, seconds, mostBehind);
  }
}
