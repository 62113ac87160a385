package dev.pipewright.predict.paradl;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCost;
import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.predict.paradl.Strategy.Split;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.ScheduleSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Prices a layout as a plan: stages balanced by time, and the cost model of the planners. */
final class PlanEstimate implements StrategyFormulas {
  private final ParadlNetwork network;
  private final Setting setting;
  private final PipelineOracle oracle;
  private final Map<List<Integer>, ScheduleSpec> specs = new HashMap<>(); // by ranks, micro-batches

  PlanEstimate(ParadlNetwork network, Setting setting) {
    this.network = network;
    this.setting = setting;
    this.oracle = new PipelineOracle(network.costs(), new PathFormula());
  }

  /** The schedule's, where it is not for so many ranks and micro-batches. */
  @Override
  public Optional<String> refusal(Layout layout) {
    try {
      spec(layout.stages(), layout.segments());
      return Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.ofNullable(e.getMessage());
    }
  }

  private ScheduleSpec spec(int ranks, int microBatches) {
    return ranks == 1
        ? PipelinePolicy.A
        : specs.computeIfAbsent(
            List.of(ranks, microBatches),
            key -> setting.degrees().schedule().spec(ranks, microBatches));
  }

  @Override
  public Phases phases(Layout layout, long globalBatch) {
    return estimate(layout, globalBatch).phases();
  }

  @Override
  public Estimate estimate(Layout layout, long globalBatch) {
    PipelinePlan plan = plan(layout, globalBatch);
    Assessment priced = oracle.assess(plan);
    List<StageCost> stages = priced.stages();
    double alone =
        oracle.stepSeconds(plan, stages.stream().map(StageCost::withoutTransfers).toList());
    int busiest = 0; // rank
    double mean = 0;
    double exchange = 0;
    double update = 0;
    double[] work = work(plan, stages);
    for (int rank = 0; rank < work.length; rank++) {
      mean += work[rank] / work.length;
      busiest = work[rank] > work[busiest] ? rank : busiest;
    }
    for (StageCost stage : stages) {
      exchange = Math.max(exchange, stage.exposedAllReduceSeconds());
      update = Math.max(update, stage.updateSeconds());
    }
    double exposed = exchange;
    double compute = work[busiest];
    double tail = Math.min(exchange + update, Math.max(0, alone - compute));
    double exposedUpdate = Math.min(update, tail);
    Phases phases =
        Phases.none()
            .with(Phase.WEIGHT_UPDATE, exposedUpdate)
            .with(Phase.GRADIENT_EXCHANGE, tail - exposedUpdate)
            .with(Phase.WAITING, Math.max(0, alone - compute - tail))
            .with(Phase.POINT_TO_POINT, Math.max(0, priced.stepSeconds() - alone));
    return new Estimate(
        passes(phases, plan, busiest, compute),
        memory(priced),
        1,
        0,
        mean == 0 ? 1 : compute / mean,
        Optional.of(plan),
        () -> exposed);
  }

  /** Seconds of a step that each rank computes and exchanges in passes. */
  private static double[] work(PipelinePlan plan, List<StageCost> stages) {
    Placement placement = plan.placement();
    double[] work = new double[placement.ranks()];
    for (int stage = 0; stage < placement.stages(); stage++) {
      StageCost cost = stages.get(stage % placement.depth());
      double passes = cost.forwardSeconds() + cost.backwardSeconds();
      work[placement.rankOf(stage)] += passes * microBatches(plan, placement);
    }
    return work;
  }

  /** Micro-batches of each direction. */
  private static int microBatches(PipelinePlan plan, Placement placement) {
    return plan.microBatches() / placement.chains();
  }

  /** The passes of the busiest rank, and what its tensor-parallel groups exchange in them. */
  private Phases passes(Phases phases, PipelinePlan plan, int busiest, double seconds) {
    Placement placement = plan.placement();
    Phases all = phases;
    double rest = seconds;
    for (int stage = 0; stage < placement.stages(); stage++) {
      if (placement.rankOf(stage) == busiest) {
        var exchanges = oracle.exchangeSeconds(plan, stage % placement.depth());
        for (Map.Entry<GroupExchange.Kind, Double> each : exchanges.entrySet()) {
          double part = microBatches(plan, placement) * each.getValue();
          rest -= part;
          all = all.with(phase(each.getKey()), part);
        }
      }
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

  /**
   * The plan that a layout stands for; throws {@link IllegalArgumentException} where its schedule
   * is not for so many ranks and micro-batches.
   */
  PipelinePlan plan(Layout layout, long globalBatch) {
    int microBatches = layout.segments();
    int microBatch = Math.toIntExact(globalBatch / layout.groups() / microBatches);
    int ranks = layout.stages();
    ScheduleSpec spec = spec(ranks, microBatches);
    int chunks = ranks == 1 ? 1 : setting.degrees().schedule().chunks();
    StageCut cut = network.stages(ranks * chunks);
    Placement placement = spec.placement(cut.stages());
    int[] inFlight = spec.inFlight(cut.stages(), microBatches);
    List<StagePlan> stages = new ArrayList<>();
    for (int stage = 0; stage < cut.stages(); stage++) {
      int first = cut.costs().inChain(cut.first(stage));
      int last = cut.costs().inChain(cut.end(stage)) - 1;
      stages.add(
          new StagePlan(
              first,
              last,
              devices(layout, placement.rankOf(stage)),
              parallelism(layout),
              layout.recompute(),
              inFlight[stage],
              recomputed(layout.recompute(), first, last)));
    }
    return new PipelinePlan(spec, microBatches, microBatch, layout.groups(), false, stages);
  }

  /**
   * The devices of a rank in all groups. Divided blocks take neighbours, then copies of the
   * network, then stages, as Megatron-LM numbers its ranks; a pipeline alone fills nodes with its
   * stages (ParaDL §4.5).
   */
  private static List<Integer> devices(Layout layout, int rank) {
    int groups = layout.groups();
    if (!layout.strategy().dividesBlocks()) {
      return IntStream.range(0, groups).map(g -> g * layout.stages() + rank).boxed().toList();
    }
    int count = groups * layout.parts();
    return IntStream.range(rank * count, (rank + 1) * count).boxed().toList();
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

  private MemoryUse memory(Assessment priced) {
    MemoryUse most = new MemoryUse(0, 0, 0, 0, 0);
    for (PeakMemory peak : priced.memory()) {
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
