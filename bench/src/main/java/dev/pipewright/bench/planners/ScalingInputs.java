package dev.pipewright.bench.planners;

import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Work;
import dev.pipewright.planner.alpa.StageTable;
import dev.pipewright.planner.madpipe.LayerChain;
import dev.pipewright.planner.madpipe.PeriodicProblem;
import dev.pipewright.planner.memory.LayerPeaks;
import dev.pipewright.planner.pipedream.CutCosts;
import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.OperatorGraph.Devices;
import dev.pipewright.planner.placement.OperatorGraph.Edge;
import dev.pipewright.planner.placement.OperatorGraph.Operator;
import dev.pipewright.planner.placement.TrainingGraph;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;

/** What planners are timed on: seeded, of any size. */
public final class ScalingInputs {
  /** Between an accelerator and its host, and how much slower a processor is: a V100's. */
  private static final double HOST_BYTES_PER_SECOND = 16e9;

  private static final double PROCESSOR_SLOWDOWN = 10;
  private static final Devices SIX = new Devices(6, 1, 16.0 * (1L << 30));

  /** Devices of the shapes that a stage of Alpa may take. */
  private static final int[] SHAPES = {1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64};

  private ScalingInputs() {}

  /** A chain of layers that take 1 to 20 ms and differ in weights and outputs. */
  public static CutCosts chain(int states) {
    SplittableRandom random = new SplittableRandom(states);
    List<Layer> layers = new ArrayList<>();
    for (int i = 0; i < states; i++) {
      layers.add(
          new Layer(
              "layer-" + i,
              new dev.pipewright.model.Operator.Recorded("synthetic layer"),
              Optional.empty(),
              0,
              0,
              0,
              Work.NONE));
    }
    return CutCosts.of(
        Chain.of(LayerGraph.chain("chain-" + states, layers)),
        random.doubles(states, 1e-3, 20e-3).toArray(),
        random.doubles(states, 0, 40e6).toArray(),
        random.doubles(states, 1e6, 50e6).toArray());
  }

  /** Measured peaks of layers of 1 to 1,000 MB. */
  public static LayerPeaks peaks(int layers) {
    SplittableRandom random = new SplittableRandom(layers);
    return new LayerPeaks(
        random.longs(layers, 100, 1_000).mapToDouble(size -> size * 1e6).toArray(),
        random.longs(layers, 1, 500).mapToDouble(size -> size * 1e6).toArray());
  }

  /**
   * The training graph of a network of the zoo, for six accelerators and a processor, as the
   * authors' workloads have them.
   */
  public static OperatorGraph training(String name, int samples) {
    Workload workload = Networks.zoo(name, Networks.cluster("dapple-a"), samples).workload();
    return training(workload, samples);
  }

  public static OperatorGraph training(Workload workload, int samples) {
    return TrainingGraph.training(
        workload.chain().graph(),
        workload.profile(),
        SIX,
        samples,
        HOST_BYTES_PER_SECOND,
        PROCESSOR_SLOWDOWN);
  }

  /**
   * Chains side by side between a first operator and a last: (length + 1)^chains ideals and two.
   */
  static OperatorGraph branches(int chains, int length) {
    SplittableRandom random = new SplittableRandom(length);
    List<Operator> operators = new ArrayList<>();
    List<Edge> edges = new ArrayList<>();
    int last = chains * length + 1;
    for (int i = 0; i <= last; i++) {
      double seconds = random.nextDouble(1, 10);
      operators.add(
          new Operator(
              i,
              "operator-" + i,
              true,
              PROCESSOR_SLOWDOWN * seconds,
              seconds,
              random.nextDouble(0, 2),
              1e6,
              false,
              OptionalLong.empty()));
    }
    for (int chain = 0; chain < chains; chain++) {
      int first = 1 + chain * length;
      edges.add(new Edge(0, first));
      for (int i = first; i < first + length - 1; i++) {
        edges.add(new Edge(i, i + 1));
      }
      edges.add(new Edge(first + length - 1, last));
    }
    return new OperatorGraph(chains + " chains of " + length, SIX, operators, edges);
  }

  /** Layers of uneven work; shapes lose a quarter with every factor e of devices, and noise. */
  public static StageTable stages(int layers) {
    SplittableRandom random = new SplittableRandom(1);
    double[][][] seconds = new double[layers][layers][SHAPES.length];
    int[][][] mostBehind = new int[layers][layers][SHAPES.length];
    double[] work = random.doubles(layers, 0.5, 1.5).toArray();
    for (int first = 0; first < layers; first++) {
      double sum = 0;
      for (int last = first; last < layers; last++) {
        sum += work[last];
        for (int shape = 0; shape < SHAPES.length; shape++) {
          int devices = SHAPES[shape];
          double loss = 1 + Math.log(devices) / 4 + 0.3 * random.nextDouble();
          seconds[first][last][shape] = sum / devices * loss;
          mostBehind[first][last][shape] = 16 * devices / (last - first + 1) - 1;
        }
      }
    }
    return new StageTable(SHAPES, seconds, mostBehind);
  }

  /** Layers of 1 to 20 ms with 100 MB of state and 100 MB kept of each batch, on average. */
  static PeriodicProblem periodic(int layers, int devices) {
    SplittableRandom random = new SplittableRandom(layers);
    List<StageLoad> loads = new ArrayList<>();
    double bytes = 0; // that one device would need for a batch
    for (int i = 0; i < layers; i++) {
      double seconds = random.nextDouble(1e-3, 20e-3);
      StageLoad load =
          new StageLoad(
              seconds / 3,
              2 * seconds / 3,
              random.nextInt(200_000_000),
              random.nextInt(200_000_000));
      loads.add(load);
      bytes += load.stateBytes() + load.activationBytes();
    }
    return new PeriodicProblem(LayerChain.of(loads), devices, 3 * bytes / devices);
  }

  /** A GPT with 48 blocks on machines of eight devices, or on a part of one. */
  public static StageCosts transformer(int devices, int globalBatch) {
    String size = devices < 8 ? "1x" + devices : devices / 8 + "x8";
    Cluster cluster = Networks.cluster("dapple-a:" + size);
    return Networks.zoo("gpt-2-xl", cluster, globalBatch);
  }
}
