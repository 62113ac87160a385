package dev.pipewright.bench.dapple;

import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.model.Work;
import dev.pipewright.planner.AutoPlanner;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Request;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Plans one synthetic network in a process of its own, which {@link Scaling} can end when it takes
 * too long: {@code ScalingPoint LAYERS DEVICES BATCH}.
 *
 * <p>The network is a stack of transformer blocks of 1,024 features and 384 tokens as a V100 runs
 * them in 32 bits, each with a work, a size and a memory of its own: up to 40 % more or less, from
 * a seed.
 */
public final class ScalingPoint {
  private static final long SEED = 20_210_227;
  private static final double SPREAD = 0.4;
  private static final double FORWARD_SECONDS = 1.35e-3; // of a block, for one sample
  private static final double LAUNCH_SECONDS = 4e-4;
  private static final double PARAMETERS = 12.6e6;
  private static final double BOUNDARY_BYTES = 384 * 1024 * 4.0;
  private static final double KEPT_BYTES = 50e6;
  private static final int LARGEST_SLICE = 64;

  private ScalingPoint() {}

  public static void main(String[] arguments) {
    int layers = Integer.parseInt(arguments[0]);
    int devices = Integer.parseInt(arguments[1]);
    int globalBatch = Integer.parseInt(arguments[2]);
    StageCosts costs = costs(layers, devices);
    long start = System.nanoTime();
    Planning planning =
        AutoPlanner.plan(costs, Request.of(globalBatch), Networks.simulator(costs), () -> false);
    double seconds = (System.nanoTime() - start) / 1e9;
    double step = planning.best().map(Planning.Candidate::seconds).orElse(Double.NaN);
    System.out.println(
        seconds
            + " "
            + step
            + " "
            + planning.lowerBound().value()
            + " "
            + planning.search().exhaustive()
            + " "
            + planning.search().labels()
            + " "
            + evenSplit(costs, globalBatch));
  }

  /** The best plan with 1, 2, 4, … stages of as many layers and devices each, simulated. */
  private static double evenSplit(StageCosts costs, int globalBatch) {
    int devices = costs.workload().cluster().size();
    GivenPlans plans = new GivenPlans(costs);
    double best = Double.POSITIVE_INFINITY;
    for (int stages = 1; stages <= Math.min(devices, costs.size()); stages *= 2) {
      int[] firsts = new int[stages];
      int[] sizes = new int[stages];
      for (int s = 0; s < stages; s++) {
        firsts[s] = s * costs.size() / stages;
        sizes[s] = devices / stages;
      }
      double seconds =
          plans
              .best(firsts, sizes, globalBatch, Table5.POLICIES)
              .map(GivenPlans.Scored::seconds)
              .orElse(Double.POSITIVE_INFINITY);
      best = Math.min(best, seconds);
    }
    return best;
  }

  /** A network of {@code layers} blocks on machines of eight devices. */
  static StageCosts costs(int layers, int devices) {
    SplittableRandom random = new SplittableRandom(SEED);
    List<Layer> blocks = new ArrayList<>();
    List<LayerSizes> sizes = new ArrayList<>();
    double[] work = new double[layers];
    for (int i = 0; i < layers; i++) {
      work[i] = around(random, FORWARD_SECONDS);
      double parameters = around(random, PARAMETERS);
      double kept = around(random, KEPT_BYTES);
      sizes.add(new LayerSizes(BOUNDARY_BYTES, kept, 4 * parameters));
      blocks.add(
          new Layer(
              "block-" + i,
              new Operator.Recorded("synthetic block"),
              Optional.empty(),
              Math.round(parameters),
              Math.round(BOUNDARY_BYTES / 4),
              Math.round(kept / 4),
              Work.NONE));
    }
    List<Integer> slices = new ArrayList<>();
    List<List<LayerTimes>> times = new ArrayList<>();
    for (int slice = 1; slice <= LARGEST_SLICE; slice *= 2) {
      slices.add(slice);
      List<LayerTimes> table = new ArrayList<>();
      for (double seconds : work) {
        double forward = LAUNCH_SECONDS + seconds * slice;
        table.add(new LayerTimes(forward, 2 * forward, Double.NaN, 0));
      }
      times.add(table);
    }
    Provenance provenance = new Provenance("synthetic blocks, seed " + SEED, "V100", "", false);
    Profile profile = new Profile(provenance, Precision.FP32, sizes, slices, times);
    LayerGraph graph = LayerGraph.chain("synthetic-" + layers, blocks);
    Training training = new Training(Optimizer.ADAM, Precision.FP32);
    return new StageCosts(
        new Workload(
            Chain.of(graph),
            profile,
            training,
            Networks.cluster("dapple-a:" + devices / 8 + "x8")));
  }

  private static double around(SplittableRandom random, double mean) {
    return mean * (1 + SPREAD * (2 * random.nextDouble() - 1));
  }
}
