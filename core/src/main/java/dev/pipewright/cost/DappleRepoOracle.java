package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Scores plans exactly as the planner program of DAPPLE's authors does, quirks included, so that
 * plans can be compared on their terms.
 *
 * <p>Its quirks, found by reproducing the scores that the program recorded: a micro-batch may be
 * split into fractions of a sample; a global batch that micro-batches do not divide is cut into
 * ⌊batch/replicas/micro-batch⌋ of them, which share all its samples; forward and backward are
 * halves of their sum; there is no latency and no memory; the layer after a cut counts in the
 * gradients of both sides; the time of one micro-batch through all layers is not divided by the
 * devices of a stage; an all-reduce inside a machine uses ⌊n/2⌋ links at once; a cut between
 * branches pays for what PipeDream's augmented antichains hold ({@link
 * dev.pipewright.model.Chain#crossingAsAugmented}).
 */
public final class DappleRepoOracle implements Oracle {
  /** The name by which users choose it. */
  public static final String NAME = "dapple-repo";

  private final StageCosts costs;
  private final OptionalLong globalBatch;
  private final double[] seconds; // forward and backward of one sample, cumulative by end
  private final double[] cutBytes; // of one sample, by end

  /** Of plans for the samples that their micro-batches hold. */
  public DappleRepoOracle(StageCosts costs) {
    this(costs, OptionalLong.empty());
  }

  /** Of plans for {@code globalBatch} samples, which their micro-batches need not divide. */
  public DappleRepoOracle(StageCosts costs, long globalBatch) {
    this(costs, OptionalLong.of(globalBatch));
  }

  private DappleRepoOracle(StageCosts costs, OptionalLong globalBatch) {
    this.costs = costs;
    this.globalBatch = globalBatch;
    this.seconds = secondsPerSample(costs);
    double[] crossing =
        costs.workload().chain().crossingAsAugmented(costs.workload().profile().outputBytes());
    this.cutBytes = new double[costs.size() + 1];
    for (int end = 1; end <= costs.size(); end++) {
      cutBytes[end] = crossing[costs.inChain(end) - 1];
    }
  }

  /**
   * Forward and backward seconds of one sample by end, as if times were proportional to the batch.
   */
  private static double[] secondsPerSample(StageCosts costs) {
    int batch = costs.workload().profile().samples().get(0);
    double[] forward = costs.forwardSeconds(batch);
    double[] backward = costs.backwardSeconds(batch);
    double[] sum = new double[forward.length];
    for (int i = 0; i < sum.length; i++) {
      sum[i] = (forward[i] + backward[i]) / batch;
    }
    return sum;
  }

  /** Whether the program cuts a global batch into as many micro-batches as a plan has. */
  public static boolean cuts(long globalBatch, PipelinePlan plan) {
    return globalBatch / plan.replicas() / plan.microBatch() == plan.microBatches();
  }

  /** Forward and backward seconds of one sample, cumulative by end: read only. */
  public double[] secondsPerSample() {
    return seconds;
  }

  /** Bytes of one sample that the program charges a cut before each position with: read only. */
  public double[] cutBytes() {
    return cutBytes;
  }

  /** Gradients that the program charges to layers {@code first..end-1}: the next layer's too. */
  public double gradientBytes(int first, int end) {
    double[] bytes = costs.parameterBytes();
    return bytes[Math.min(end + 1, costs.size())] - bytes[first];
  }

  /** Seconds to all-reduce {@code bytes} over ascending {@code devices}. */
  public double allReduceSeconds(int[] devices, double bytes) {
    int n = devices.length;
    if (n == 1) {
      return 0;
    }
    Cluster cluster = costs.workload().cluster();
    double volume = 2 * bytes * (n - 1) / n;
    return spans(cluster, devices)
        ? volume / outer(cluster, true)
        : volume / inner(cluster) / Math.floorDiv(n, 2);
  }

  /** Seconds to move {@code bytes} from the ascending devices of a stage to those of the next. */
  public double transferSeconds(int[] from, int[] to, double bytes) {
    Cluster cluster = costs.workload().cluster();
    if (spans(cluster, to)) {
      return bytes / outer(cluster, true); // the receivers alone span machines
    }
    int elsewhere = 0;
    for (int device : from) {
      elsewhere += cluster.machine(device) != cluster.machine(to[0]) ? 1 : 0;
    }
    return elsewhere > 0
        ? bytes / from.length * elsewhere / outer(cluster, false)
        : bytes / inner(cluster);
  }

  private static boolean spans(Cluster cluster, int[] devices) {
    for (int device : devices) {
      if (cluster.machine(device) != cluster.machine(devices[0])) {
        return true;
      }
    }
    return false;
  }

  private static double inner(Cluster cluster) {
    return cluster.levels().get(0).pointToPoint().bandwidth().value();
  }

  private static double outer(Cluster cluster, boolean collective) {
    var level = cluster.levels().get(cluster.levels().size() - 1);
    return (collective ? level.collective() : level.pointToPoint()).bandwidth().value();
  }

  @Override
  public Assessment assess(PipelinePlan plan) {
    Check.that(
        !plan.dividesLayers(),
        "cost model dapple-repo knows no stages that divide layers; take another --cost-model");
    Check.that(
        plan.sharding() == ZeroStage.NOTHING,
        "cost model dapple-repo knows no ZeRO; take another --cost-model");
    globalBatch.ifPresent(batch ->
        Check.that(
            cuts(batch, plan),
            "the plan is not for the global batch: micro_batches=%d, global_batch=%d",
            plan.microBatches(),
            batch));
    List<StageCost> physical = new PipelineOracle(costs, new PathFormula()).stages(plan);
    int stages = plan.stages().size();
    double microBatches = plan.microBatches();
    double samples = globalBatch.orElse(plan.globalBatch());
    double microBatching = samples / microBatches;
    double bottleneck = 0; // seconds of one micro-batch in the slowest stage or transfer
    double transfers = 0;
    double[] tails = new double[stages];
    List<StageCost> scored = new ArrayList<>();
    for (int s = 0; s < stages; s++) {
      StagePlan stage = plan.stages().get(s);
      int[] devices = sorted(stage);
      int first = stage.firstLayer();
      int end = stage.lastLayer() + 1;
      double both = (seconds[end] - seconds[first]) * microBatching / devices.length;
      double send = 0;
      if (s < stages - 1) {
        int[] next = sorted(plan.stages().get(s + 1));
        double bytes = cutBytes[end] * microBatching;
        send = transferSeconds(devices, next, bytes);
        transfers += send / plan.replicas();
      }
      tails[s] = allReduceSeconds(devices, gradientBytes(first, end));
      bottleneck = Math.max(bottleneck, Math.max(both, send));
      scored.add(
          new StageCost(
              both / 2,
              both / 2,
              send / 2,
              send / 2,
              tails[s],
              tails[s],
              0,
              physical.get(s).memory()));
    }
    double tail = 0;
    for (int s = 0; s < stages; s++) {
      tail = Math.max(tail, tails[s] - s * bottleneck);
    }
    double once = seconds[costs.size()] * microBatching / plan.replicas() + transfers;
    return new Assessment(NAME, bottleneck * (microBatches - 1) + once + tail, scored);
  }

  private static int[] sorted(StagePlan stage) {
    int[] devices = stage.devices().stream().mapToInt(Integer::intValue).toArray();
    java.util.Arrays.sort(devices);
    return devices;
  }
}
