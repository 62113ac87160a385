package dev.pipewright.predict.paradl;

import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.PipelineFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCost;
import dev.pipewright.plan.GroupExchange;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Parallelism;
import dev.pipewright.plan.Plan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.predict.paradl.Strategy.Split;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Prices a layout as a plan: stages balanced by time, 1F1B, the cost model of the planners. */
final class PlanEstimate implements StrategyFormulas {
  private final ParadlNetwork network;
  private final Setting setting;
  private final PipelineOracle oracle;

  PlanEstimate(ParadlNetwork network, Setting setting) {
    this.network = network;
    this.setting = setting;
    this.oracle = new PipelineOracle(network.costs(), new PathFormula());
  }

  @Override
  public Phases phases(Layout layout, long globalBatch) {
    return estimate(layout, globalBatch).phases();
  }

  @Override
  public Estimate estimate(Layout layout, long globalBatch) {
    Plan plan = plan(layout, globalBatch);
    List<StageCost> stages = oracle.stages(plan);
    double step = seconds(stages, plan.microBatches(), true);
    double alone = seconds(stages, plan.microBatches(), false);
    int busiest = 0;
    double mean = 0;
    double exchange = 0;
    double update = 0;
    for (int s = 0; s < stages.size(); s++) {
      StageCost stage = stages.get(s);
      mean += passes(stage) / stages.size();
      busiest = passes(stage) > passes(stages.get(busiest)) ? s : busiest;
      exchange = Math.max(exchange, stage.exposedAllReduceSeconds());
      update = Math.max(update, stage.updateSeconds());
    }
    double exposed = exchange;
    double most = passes(stages.get(busiest));
    double compute = plan.microBatches() * most;
    double tail = Math.min(exchange + update, Math.max(0, alone - compute));
    double exposedUpdate = Math.min(update, tail);
    Phases phases =
        Phases.none()
            .with(Phase.WEIGHT_UPDATE, exposedUpdate)
            .with(Phase.GRADIENT_EXCHANGE, tail - exposedUpdate)
            .with(Phase.WAITING, Math.max(0, alone - compute - tail))
            .with(Phase.POINT_TO_POINT, Math.max(0, step - alone));
    return new Estimate(
        passes(phases, plan, busiest, compute),
        memory(stages),
        1,
        0,
        mean == 0 ? 1 : most / mean,
        Optional.of(plan),
        () -> exposed);
  }

  /** The passes of the busiest stage, and what its tensor-parallel groups exchange in them. */
  private Phases passes(Phases phases, Plan plan, int busiest, double seconds) {
    Map<GroupExchange.Kind, Double> exchanges = oracle.exchangeSeconds(plan, busiest);
    Phases all = phases;
    double rest = seconds;
    for (Map.Entry<GroupExchange.Kind, Double> each : exchanges.entrySet()) {
      double part = plan.microBatches() * each.getValue();
      rest -= part;
      all = all.with(phase(each.getKey()), part);
    }
    return all.with(Phase.FORWARD_BACKWARD, Math.max(0, rest));
  }

  private static Phase phase(GroupExchange.Kind kind) {
    return switch (kind) {
      case SUM -> Phase.LAYER_ALL_REDUCE;
      case GATHER, SUM_PARTS -> Phase.LAYER_ALL_GATHER;
      case HALO -> Phase.HALO;
    };
  }

  private static double passes(StageCost stage) {
    return stage.forwardSeconds() + stage.backwardSeconds();
  }

  /** The plan that a layout stands for. */
  Plan plan(Layout layout, long globalBatch) {
    StageCut cut = network.stages(layout.stages());
    int microBatches = layout.segments();
    int microBatch = Math.toIntExact(globalBatch / layout.groups() / microBatches);
    List<StagePlan> stages = new ArrayList<>();
    for (int stage = 0; stage < cut.stages(); stage++) {
      int first = cut.costs().inChain(cut.first(stage));
      int last = cut.costs().inChain(cut.end(stage)) - 1;
      int inFlight = PipelinePolicy.A.inFlightOf(cut.stages() - 1 - stage, microBatches);
      stages.add(
          new StagePlan(
              first,
              last,
              devices(layout, stage),
              parallelism(layout),
              layout.recompute(),
              inFlight,
              recomputed(layout.recompute(), first, last)));
    }
    return new Plan(PipelinePolicy.A, microBatches, microBatch, layout.groups(), false, stages);
  }

  /**
   * The devices of a stage in all groups. Divided blocks take neighbours, then copies of the
   * network, then stages, as Megatron-LM numbers its ranks; a pipeline alone fills nodes with its
   * stages (ParaDL §4.5).
   */
  private static List<Integer> devices(Layout layout, int stage) {
    int groups = layout.groups();
    if (!layout.strategy().dividesBlocks()) {
      return IntStream.range(0, groups).map(g -> g * layout.stages() + stage).boxed().toList();
    }
    int count = groups * layout.parts();
    return IntStream.range(stage * count, (stage + 1) * count).boxed().toList();
  }

  private static Parallelism parallelism(Layout layout) {
    if (layout.parts() == 1) {
      return Parallelism.NONE;
    }
    boolean tokens = layout.strategy().split() == Split.SEQUENCES;
    Parallelism.Kind kind = tokens ? Parallelism.Kind.SEQUENCE : Parallelism.Kind.TENSOR;
    return Parallelism.of(kind, layout.parts());
  }

  /** Each layer alone, where every one keeps its input. */
  private static List<LayerRange> recomputed(Recompute recompute, int first, int last) {
    return recompute == Recompute.SELECTIVE
        ? IntStream.rangeClosed(first, last).mapToObj(at -> new LayerRange(at, at)).toList()
        : List.of();
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
      PeakMemory peak = stage.memory().device();
      MemoryUse use =
          new MemoryUse(
              peak.states().parameters(),
              peak.states().gradients(),
              peak.states().optimizer(),
              peak.activationBytes() + peak.workingBytes(),
              0);
      most = use.total() > most.total() ? use : most;
    }
    return setting.memoryReuse().isPresent()
        ? most.times(setting.memoryReuse().getAsDouble())
        : most;
  }
}
