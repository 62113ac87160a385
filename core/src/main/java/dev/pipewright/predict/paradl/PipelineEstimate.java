package dev.pipewright.predict.paradl;

import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCost;
import dev.pipewright.plan.Plan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.List;

/** Prices a pipeline with the planner's cost model: stages balanced by time, 1F1B. */
final class PipelineEstimate implements StrategyFormulas {
  private final ParadlNetwork network;
  private final Setting setting;

  PipelineEstimate(ParadlNetwork network, Setting setting) {
    this.network = network;
    this.setting = setting;
  }

  @Override
  public Phases phases(Layout layout, long globalBatch) {
    return estimate(layout, globalBatch).phases();
  }

  @Override
  public Estimate estimate(Layout layout, long globalBatch) {
    StageCut cut = network.stages(layout.parts());
    long samples = globalBatch / layout.groups();
    Plan plan = plan(cut, layout, Math.toIntExact(samples / layout.segments()));
    List<StageCost> stages = new PipelineOracle(network.costs(), new PathFormula()).stages(plan);
    double step = seconds(stages, plan.microBatches(), true);
    double alone = seconds(stages, plan.microBatches(), false);
    StageCost busiest = stages.get(0);
    double mean = 0;
    double exchange = 0;
    double update = 0;
    for (StageCost stage : stages) {
      mean += passes(stage) / stages.size();
      busiest = passes(stage) > passes(busiest) ? stage : busiest;
      exchange = Math.max(exchange, stage.exposedAllReduceSeconds());
      update = Math.max(update, stage.updateSeconds());
    }
    double exposed = exchange;
    double compute = plan.microBatches() * passes(busiest);
    double tail = Math.min(exchange + update, Math.max(0, alone - compute));
    double exposedUpdate = Math.min(update, tail);
    Phases phases =
        Phases.none()
            .with(Phase.FORWARD_BACKWARD, compute)
            .with(Phase.WEIGHT_UPDATE, exposedUpdate)
            .with(Phase.GRADIENT_EXCHANGE, tail - exposedUpdate)
            .with(Phase.WAITING, Math.max(0, alone - compute - tail))
            .with(Phase.POINT_TO_POINT, Math.max(0, step - alone));
    double imbalance = mean == 0 ? 1 : passes(busiest) / mean;
    return new Estimate(phases, memory(stages), 1, 0, imbalance, () -> exposed);
  }

  private static double passes(StageCost stage) {
    return stage.forwardSeconds() + stage.backwardSeconds();
  }

  /** The devices of a stage are those of all groups: group by group, stage after stage. */
  private Plan plan(StageCut cut, Layout layout, int microBatch) {
    List<StagePlan> stages = new ArrayList<>();
    int microBatches = layout.segments();
    for (int stage = 0; stage < cut.stages(); stage++) {
      List<Integer> devices = new ArrayList<>();
      for (int group = 0; group < layout.groups(); group++) {
        devices.add(group * layout.parts() + stage);
      }
      int first = cut.costs().inChain(cut.first(stage));
      int last = cut.costs().inChain(cut.end(stage)) - 1;
      int inFlight = PipelinePolicy.A.inFlightOf(cut.stages() - 1 - stage, microBatches);
      stages.add(new StagePlan(first, last, devices, Recompute.NONE, inFlight));
    }
    return new Plan(PipelinePolicy.A, microBatches, microBatch, layout.groups(), false, stages);
  }

  /** The step, with or without the transfers between stages. */
  private static double seconds(List<StageCost> stages, int microBatches, boolean transfers) {
    PipelineFormula formula = new PathFormula();
    double[] label = new double[formula.width()];
    formula.nothing(label, 0);
    for (int s = stages.size() - 1; s >= 0; s--) {
      StageCost stage = stages.get(s);
      if (s < stages.size() - 1 && transfers) {
        formula.transfer(label, 0, stage.sendSeconds(), stage.returnSeconds(), microBatches, 0);
      }
      formula.stage(
          label,
          0,
          stage.forwardSeconds(),
          stage.backwardSeconds(),
          stage.exposedAllReduceSeconds() + stage.updateSeconds(),
          microBatches,
          stage.memory().inFlight(),
          0);
    }
    return formula.seconds(label, 0);
  }

  private MemoryUse memory(List<StageCost> stages) {
    MemoryUse most = new MemoryUse(0, 0, 0, 0, 0);
    for (StageCost stage : stages) {
      var m = stage.memory();
      MemoryUse use =
          new MemoryUse(
              m.states().parameters(),
              m.states().gradients(),
              m.states().optimizer(),
              m.activationBytes() + m.workingBytes(),
              0);
      most = use.total() > most.total() ? use : most;
    }
    return setting.memoryReuse().isPresent()
        ? most.times(setting.memoryReuse().getAsDouble())
        : most;
  }
}
