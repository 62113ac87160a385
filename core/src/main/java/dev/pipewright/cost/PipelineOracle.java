package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Plan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;

/**
 * Prices a plan on the real topology: stage times from the profile, split/concat between stages,
 * all-reduce per stage, memory per device; a {@link PipelineFormula} turns them into a step time.
 */
public final class PipelineOracle implements Oracle {
  private final StageCosts costs;
  private final PipelineFormula formula;

  public PipelineOracle(StageCosts costs, PipelineFormula formula) {
    this.costs = costs;
    this.formula = formula;
  }

  @Override
  public Assessment assess(Plan plan) {
    List<StageCost> stages = stages(plan);
    return new Assessment(formula.name(), stepSeconds(plan, stages), stages);
  }

  /**
   * Where stages keep the last micro-batch a bound that is no longer than the step: all recomputed,
   * less what each saves once, or nothing recomputed.
   */
  private double stepSeconds(Plan plan, List<StageCost> stages) {
    double saved = stages.stream().mapToDouble(StageCost::savedSeconds).sum();
    double all = stepSeconds(plan, stages, 0);
    return saved == 0 ? all : Math.max(all - saved, stepSeconds(plan, stages, 1));
  }

  /**
   * The formula's.
   *
   * @param saves the part of what the last micro-batch saves that all do
   */
  private double stepSeconds(Plan plan, List<StageCost> stages, int saves) {
    double[] label = new double[formula.width()];
    formula.nothing(label, 0);
    int microBatches = plan.microBatches();
    for (int s = stages.size() - 1; s >= 0; s--) {
      StageCost stage = stages.get(s);
      if (s < stages.size() - 1) {
        formula.transfer(label, 0, stage.sendSeconds(), stage.returnSeconds(), microBatches, 0);
      }
      formula.stage(
          label,
          0,
          stage.forwardSeconds(),
          stage.backwardSeconds() - saves * stage.savedSeconds(),
          stage.exposedAllReduceSeconds() + stage.updateSeconds(),
          microBatches,
          stage.memory().inFlight(),
          0);
    }
    return formula.seconds(label, 0);
  }

  /**
   * What each stage of {@code plan} costs; throws when the plan is not for this chain and cluster.
   */
  public List<StageCost> stages(Plan plan) {
    checkBelongs(plan);
    List<StageCost> stages = new ArrayList<>();
    for (int s = 0; s < plan.stages().size(); s++) {
      stages.add(stage(plan, s));
    }
    return stages;
  }

  private void checkBelongs(Plan plan) {
    Cluster cluster = costs.workload().cluster();
    Check.that(
        plan.layers() == costs.size(),
        "the plan must cover the model's layers: plan covers %d, model has %d",
        plan.layers(),
        costs.size());
    int after = -1;
    for (StagePlan stage : plan.stages()) {
      Check.that(
          after < 0 || costs.workload().chain().precedes(after, stage.lastLayer()),
          "layers [%d, %d] are no stage: branches of the model cross its border",
          stage.firstLayer(),
          stage.lastLayer());
      after = stage.lastLayer();
      for (int device : stage.devices()) {
        Check.that(
            device >= 0 && device < cluster.size(),
            "device %d is not in the cluster, which has 0..%d",
            device,
            cluster.size() - 1);
      }
    }
  }

  private StageCost stage(Plan plan, int index) {
    StagePlan stage = plan.stages().get(index);
    Cluster cluster = costs.workload().cluster();
    int[] devices = sorted(stage);
    int first = stage.firstLayer();
    int end = stage.lastLayer() + 1;
    int slice = StageCosts.slice(plan.microBatching(), devices.length);
    double slowdown = 0;
    for (int device : devices) {
      slowdown = Math.max(slowdown, costs.slowdown(device));
    }
    double[] forward = costs.forwardSeconds(slice);
    double[] backward = costs.backwardSeconds(slice);
    double forwardSeconds = (forward[end] - forward[first]) * slowdown;
    double backwardSeconds = (backward[end] - backward[first]) * slowdown;
    double again = // seconds of a micro-batch
        switch (stage.recompute()) {
          case NONE -> 0;
          case STAGE_INPUT, EXCEPT_LAST -> forwardSeconds;
          case SELECTIVE -> partlyKept(stage, slice).extraSeconds() * slowdown;
        };
    double messages = costs.messageSeconds(first, end, slice);
    double send = 0;
    double back = 0;
    if (index < plan.stages().size() - 1) {
      int[] next = sorted(plan.stages().get(index + 1));
      double bytes = costs.cutBytes()[end] * plan.microBatching();
      send = SplitConcat.betweenPasses(cluster, devices, next).seconds(bytes);
      back = SplitConcat.betweenPasses(cluster, next, devices).seconds(bytes);
    }
    Collectives group = Collectives.achieved(cluster, devices);
    double reduce = group.allReduce(costs.gradientBytes()[end] - costs.gradientBytes()[first]);
    double exposed =
        plan.overlapGradients()
            ? GradientOverlap.exposedSeconds(costs, first, end, slice, slowdown, group)
            : reduce;
    return new StageCost(
        forwardSeconds + messages,
        backwardSeconds + again + messages,
        stage.recompute() == Recompute.EXCEPT_LAST ? again : 0,
        send,
        back,
        reduce,
        exposed,
        Math.max(
                0,
                costs.updateSeconds()[end]
                    - costs.updateSeconds()[first]) // sums differ by rounding
            * slowdown,
        memory(stage, slice, plan.microBatches()));
  }

  private StageMemory memory(StagePlan stage, int slice, int microBatches) {
    int first = stage.firstLayer();
    int end = stage.lastLayer() + 1;
    long capacity = Long.MAX_VALUE;
    for (int device : stage.devices()) {
      capacity = Math.min(capacity, costs.workload().cluster().device(device).memory().value());
    }
    double held = costs.heldBytes(first, end, slice);
    double last = 0;
    double working = 0;
    if (stage.recompute().wholeStage()) {
      held = costs.inputBytes(first, slice);
      working = costs.recomputedBytes(first, end, slice);
      boolean keepsLast = stage.recompute() == Recompute.EXCEPT_LAST;
      last = keepsLast && besideOthers(stage, microBatches) ? working : 0;
    } else if (stage.recompute() == Recompute.SELECTIVE) {
      PartlyKept kept = partlyKept(stage, slice);
      held = kept.heldBytes();
      working = kept.workingBytes();
    }
    return new StageMemory(
        costs.states(first, end),
        held,
        last,
        stage.inFlight(),
        working + costs.workingBytes(slice),
        new Bytes(capacity));
  }

  /** Whether the last micro-batch is in flight while another one is recomputed. */
  private static boolean besideOthers(StagePlan stage, int microBatches) {
    return Math.min(stage.inFlight(), microBatches) > 1;
  }

  private PartlyKept partlyKept(StagePlan stage, int slice) {
    int first = stage.firstLayer();
    List<LayerRange> again = new ArrayList<>();
    for (LayerRange run : stage.again()) {
      again.add(new LayerRange(run.first() - first, run.last() - first));
    }
    return PartlyKept.of(costs.layers(first, stage.lastLayer() + 1, slice), again);
  }

  private static int[] sorted(StagePlan stage) {
    int[] devices = stage.devices().stream().mapToInt(Integer::intValue).toArray();
    java.util.Arrays.sort(devices);
    return devices;
  }
}
