package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What the stages of an asynchronous plan cost on the real topology: each device takes whole
 * micro-batches, and keeps all versions of its weights that they use.
 */
public final class AsynchronousCosts {
  private final StageCosts costs;
  private final AsynchronousPlan plan;
  private final Cluster cluster;
  private final List<StageMemory> memory = new ArrayList<>();

  /** Throws {@link IllegalArgumentException} when the plan is not for this model and cluster. */
  public AsynchronousCosts(StageCosts costs, AsynchronousPlan plan) {
    this.costs = costs;
    this.plan = plan;
    this.cluster = costs.workload().cluster();
    Check.that(
        plan.layers() == costs.size(),
        "the plan must cover the model's layers: plan covers %d, model has %d",
        plan.layers(),
        costs.size());
    for (int stage = 0; stage < plan.stages().size(); stage++) {
      memory.add(memory(stage));
    }
  }

  /** Bytes on each device of each stage; all versions of the weights but one count as static. */
  public List<StageMemory> memory() {
    return List.copyOf(memory);
  }

  /** The stages that their devices cannot hold, in order. */
  public List<Misfit> misfits() {
    return IntStream.range(0, memory.size())
        .filter(stage -> !memory.get(stage).fits())
        .mapToObj(stage -> Misfit.of(plan, stage, memory.get(stage)))
        .toList();
  }

  /** Bytes of one version of a stage's weights. */
  public double weightBytes(int stage) {
    StagePlan layers = plan.stages().get(stage);
    return costs.parameterBytes(layers.firstLayer(), layers.lastLayer() + 1);
  }

  private StageMemory memory(int stage) {
    StagePlan layers = plan.stages().get(stage);
    int first = layers.firstLayer();
    int end = layers.lastLayer() + 1;
    int samples = plan.microBatch();
    boolean again = layers.recompute() == Recompute.STAGE_INPUT;
    long capacity = Long.MAX_VALUE;
    for (int device : layers.devices()) {
      capacity = Math.min(capacity, cluster.device(device).memory().value());
    }
    return new StageMemory(
        costs.states(first, end).withVersions((plan.versions(stage) - 1) * weightBytes(stage)),
        again ? costs.inputBytes(first, samples) : costs.heldBytes(first, end, samples),
        layers.inFlight(),
        (again ? costs.recomputedBytes(first, end, samples) : 0) + costs.workingBytes(samples),
        new Bytes(capacity));
  }

  /** What ops of the plan's schedule take, where ranks are the given devices. */
  public OpTimes times(Placement placement, int[] devices) {
    Times times = new Times(placement, devices);
    for (int stage = 0; stage < placement.stages(); stage++) {
      times.price(stage);
    }
    return times.all();
  }

  /** Seconds by stage of all chains. */
  private final class Times {
    private final Placement placement;
    private final int[] devices;
    private final double[] forward;
    private final double[] backward;
    private final double[] there;
    private final double[] back;
    private final double[] update;
    private final double[] reduce;
    private final double[] sums; // by stage of a chain

    Times(Placement placement, int[] devices) {
      this.placement = placement;
      this.devices = devices;
      int stages = placement.stages();
      forward = new double[stages];
      backward = new double[stages];
      there = new double[stages];
      back = new double[stages];
      update = new double[stages];
      reduce = new double[stages];
      sums = new double[placement.depth()];
      Arrays.setAll(sums, AsynchronousCosts.this::reduceSeconds);
    }

    void price(int stage) {
      int own = stage % placement.depth();
      StagePlan layers = plan.stages().get(own);
      int first = layers.firstLayer();
      int end = layers.lastLayer() + 1;
      int samples = plan.microBatch();
      int device = devices[placement.rankOf(stage)];
      double slowdown = costs.slowdown(device);
      forward[stage] = between(costs.forwardSeconds(samples), first, end) * slowdown;
      backward[stage] = between(costs.backwardSeconds(samples), first, end) * slowdown;
      backward[stage] += layers.recompute() == Recompute.STAGE_INPUT ? forward[stage] : 0;
      double messages = costs.messageSeconds(first, end, samples);
      forward[stage] += messages;
      backward[stage] += messages;
      update[stage] = between(costs.updateSeconds(), first, end) * slowdown;
      reduce[stage] = sums[own];
      if (!placement.last(stage)) {
        int[] from = {device};
        int[] to = {devices[placement.rankOf(stage + 1)]};
        double bytes = costs.cutBytes()[end] * samples;
        there[stage] = SplitConcat.betweenPasses(cluster, from, to).seconds(bytes);
        back[stage] = SplitConcat.betweenPasses(cluster, to, from).seconds(bytes);
      }
    }

    OpTimes all() {
      double[] none = new double[forward.length];
      return OpTimes.whole(forward, backward, there, back)
          .withStep(new OncePerStepTimes(none, reduce, none, update));
    }
  }

  private static double between(double[] before, int first, int end) {
    return before[end] - before[first];
  }

  /** Of a sum of the gradients over a stage's devices. */
  private double reduceSeconds(int stage) {
    int[] devices =
        plan.stages().get(stage).devices().stream().mapToInt(Integer::intValue).sorted().toArray();
    StagePlan layers = plan.stages().get(stage);
    return Collectives.achieved(cluster, devices)
        .allReduce(costs.gradientBytes(layers.firstLayer(), layers.lastLayer() + 1));
  }
}
