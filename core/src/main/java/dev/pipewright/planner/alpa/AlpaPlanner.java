package dev.pipewright.planner.alpa;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.Search;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.SynchronousPlans;
import dev.pipewright.planner.alpa.InterOperatorPlanner.Pipeline;
import dev.pipewright.planner.alpa.InterOperatorPlanner.Stage;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.planner.partition.UniformWeights;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * Plans whose stages Alpa's inter-operator pass constructs ({@link InterOperatorPlanner}): at most
 * {@value #MOST_BLOCKS} blocks of layers, on powers of two of devices of a machine or on whole
 * machines, all devices in use. As there, transfers between stages are free, and a stage's
 * all-reduce is spread over the micro-batches.
 *
 * <p>Paper: L. Zheng et al., <i>Alpa</i>, OSDI 2022, §5.2. Departs: the devices of a stage share
 * samples; Alpa's intra-operator pass may also divide operators.
 */
public final class AlpaPlanner {
  /** The planner's name on the command line. */
  public static final String NAME = "alpa";

  private static final int MOST_BLOCKS = 48;

  private final int[] places; // where blocks begin, and the end, in positions of the chain
  private final StageCosts blocks;
  private final int globalBatch;
  private final int[] shapes; // devices of each

  private AlpaPlanner(StageCosts costs, int globalBatch, int samples) {
    this.places = places(costs, samples);
    this.blocks = costs.cutOnlyAt(places);
    this.globalBatch = globalBatch;
    this.shapes = shapes(costs.workload().cluster());
  }

  /**
   * The stages for micro-batches of {@code samples}; empty where no pipeline fits.
   *
   * @param samples which divide the global batch
   * @param count exactly so many stages; any number where it is empty
   */
  public static Optional<List<StagePlan>> stages(
      StageCosts costs, int globalBatch, int samples, OptionalInt count) {
    AlpaPlanner planner = new AlpaPlanner(costs, globalBatch, samples);
    int devices = costs.workload().cluster().size();
    return InterOperatorPlanner.plan(planner.table(samples), devices, globalBatch / samples, count)
        .map(planner::stages);
  }

  /** The best micro-batch, each with the stages for it. */
  public static Planning plan(
      StageCosts costs, Request request, Oracle decides, BooleanSupplier stop) {
    List<Planning> found = new ArrayList<>();
    for (int samples = 1; samples <= request.globalBatch(); samples++) {
      if (request.allowsMicroBatch(samples) && (found.isEmpty() || !stop.getAsBoolean())) {
        Request one = withMicroBatch(request, samples);
        stages(costs, request.globalBatch(), samples, request.stages())
            .map(stages -> SynchronousPlans.best(NAME, costs, stages, 1, one, decides, stop))
            .ifPresent(found::add);
      }
    }
    return found.isEmpty()
        ? SynchronousPlans.best(NAME, costs, List.of(), 1, request, decides, stop)
        : joined(found);
  }

  /** Why there is no plan, and what would help. */
  public static String sentence(StageCosts costs) {
    return "no stages of its pass fit on all %d devices with %s each; take devices with more memory, or a planner that tries every cut, such as dapple"
        .formatted(costs.workload().cluster().size(), costs.workload().cluster().leastMemory());
  }

  private static Request withMicroBatch(Request request, int samples) {
    return new Request(
        request.globalBatch(),
        OptionalInt.of(samples),
        request.policies(),
        request.recomputation(),
        request.costModel(),
        request.shape(),
        request.stages(),
        request.restriction(),
        request.flags());
  }

  /** The best of several searches, with the candidates of all. */
  private static Planning joined(List<Planning> found) {
    List<Candidate> candidates =
        found.stream()
            .flatMap(each -> each.candidates().stream())
            .sorted(Comparator.comparingDouble(Candidate::seconds))
            .toList();
    Planning best =
        found.stream().min(Comparator.comparingDouble(AlpaPlanner::seconds)).orElseThrow();
    boolean complete = found.stream().allMatch(each -> each.search().exhaustive());
    long tried = found.stream().mapToLong(each -> each.search().labels()).sum();
    return new Planning(
        NAME,
        best.costModel(),
        best.best(),
        candidates,
        best.lowerBound(),
        best.binding(),
        best.serialSeconds(),
        new Search(complete, tried, "micro-batches, with the stages of Alpa for each"));
  }

  private static double seconds(Planning planning) {
    return planning.best().map(Candidate::seconds).orElse(Double.POSITIVE_INFINITY);
  }

  private List<StagePlan> stages(Pipeline found) {
    List<StagePlan> stages = new ArrayList<>();
    int next = 0;
    for (Stage stage : found.stages()) {
      int count = shapes[stage.shape()];
      List<Integer> devices = IntStream.range(next, next + count).boxed().toList();
      int last = places[stage.last() + 1] - 1;
      stages.add(new StagePlan(places[stage.first()], last, devices, Recompute.NONE, 1));
      next += count;
    }
    return stages;
  }

  /** Places to cut at: along one way through branches, the heaviest block as light as possible. */
  private static int[] places(StageCosts costs, int samples) {
    int[] path = OnePath.positions(costs.workload().chain());
    int[] ends = IntStream.concat(IntStream.of(0), Arrays.stream(path).map(at -> at + 1)).toArray();
    double[] sums = costs.cutOnlyAt(ends).cheapestSecondsPerSample(samples);
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

  private StageTable table(int samples) {
    int layers = blocks.size();
    int microBatches = globalBatch / samples;
    Cluster cluster = blocks.workload().cluster();
    double capacity = cluster.device(0).memory().value();
    double[][][] seconds = new double[layers][layers][shapes.length];
    int[][][] mostBehind = new int[layers][layers][shapes.length];
    for (int shape = 0; shape < shapes.length; shape++) {
      int slice = StageCosts.slice(samples, shapes[shape]);
      boolean shared = shapes[shape] <= samples; // each device has a sample
      double[] forward = blocks.forwardSeconds(slice);
      double[] backward = blocks.backwardSeconds(slice);
      Collectives group =
          Collectives.achieved(cluster, IntStream.range(0, shapes[shape]).toArray());
      for (int first = 0; first < layers; first++) {
        for (int end = first + 1; end <= layers; end++) {
          double reduce =
              group.allReduce(blocks.gradientBytes()[end] - blocks.gradientBytes()[first]);
          double computing = forward[end] - forward[first] + backward[end] - backward[first];
          seconds[first][end - 1][shape] =
              shared ? Math.max(0, computing) + reduce / microBatches : Double.POSITIVE_INFINITY;
          double room = capacity - blocks.staticBytes(first, end);
          double held = blocks.heldBytes(first, end, slice);
          double fitting = room < 0 ? 0 : Math.min(cluster.size(), room / held);
          mostBehind[first][end - 1][shape] = (int) fitting - 1;
        }
      }
    }
    return new StageTable(shapes, seconds, mostBehind);
  }
}
