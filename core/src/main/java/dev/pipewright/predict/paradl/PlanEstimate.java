package dev.pipewright.predict.paradl;

import dev.pipewright.cluster.AllReduceAlgorithm;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Software;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.StageGroups;
import dev.pipewright.cost.Workload;
import dev.pipewright.cost.ZeroCosts;
import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Reduction;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.predict.paradl.Setting.Exchange;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.ScheduleSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Prices a layout as the plan that it stands for, by the cost model of the planners: stages
 * balanced by time, sums of gradients overlapped with the backward pass.
 */
final class PlanEstimate implements StrategyFormulas {
  private static final int MOST_SAMPLES = Integer.MAX_VALUE;
  private static final int SHARDED = 0; // the only stage of a layout that shards its states

  private final ParadlNetwork network;
  private final Setting setting;
  private final PipelineOracle oracle;
  private final Map<List<Integer>, ScheduleSpec> specs = new HashMap<>(); // by ranks, micro-batches

  PlanEstimate(ParadlNetwork network, Setting setting) {
    this.network = network;
    this.setting = setting;
    this.oracle = new PipelineOracle(network.costs(), new PathFormula());
  }

  /** The schedule's, where it is not for so many ranks and micro-batches; or that of the batch. */
  @Override
  public Optional<String> refusal(Layout layout, long globalBatch) {
    if (globalBatch / layout.segments() > MOST_SAMPLES) {
      return Optional.of(
          "a micro-batch of all devices has at most %d samples, and %d would have %d"
              .formatted(MOST_SAMPLES, layout.segments(), globalBatch));
    }
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
    double update = 0;
    double[] work = work(plan, stages);
    for (int rank = 0; rank < work.length; rank++) {
      mean += work[rank] / work.length;
      busiest = work[rank] > work[busiest] ? rank : busiest;
    }
    for (StageCost stage : stages) {
      update = Math.max(update, stage.updateSeconds());
    }
    Optional<ZeroCosts> zero = oracle.zero(plan);
    double gathering = zero.map(shards -> shards.gatherSeconds(SHARDED)).orElse(0.0);
    double summing = sumSeconds(zero); // during passes
    double exposed = exchangeSeconds(stages); // after them
    double compute = work[busiest];
    double tail = Math.min(exposed + update, Math.max(0, alone - compute));
    double exposedUpdate = Math.min(update, tail);
    Phases phases =
        Phases.none()
            .with(Phase.WEIGHT_UPDATE, exposedUpdate)
            .with(Phase.GRADIENT_EXCHANGE, tail - exposedUpdate + summing)
            .with(Phase.LAYER_ALL_GATHER, gathering)
            .with(Phase.WAITING, beyondRounding(alone - compute - tail, alone))
            .with(Phase.POINT_TO_POINT, beyondRounding(priced.stepSeconds() - alone, alone));
    return new Estimate(
        passes(phases, plan, busiest, compute - gathering - summing),
        memory(priced, zero.map(shards -> shards.bufferBytes(SHARDED)).orElse(0.0)),
        contention(plan),
        redundantSeconds(plan),
        mean == 0 ? 1 : compute / mean,
        Optional.of(plan),
        () -> Math.min(exposed + summing, cheapestExchangeSeconds(plan)));
  }

  private static double beyondRounding(double seconds, double step) {
    return seconds > 1e-13 * step ? seconds : 0;
  }

  /** The largest of all collectives of the plan. */
  private double contention(PipelinePlan plan) {
    double most = 1;
    for (int stage = 0; stage < plan.stages().size(); stage++) {
      StageGroups groups = oracle.groups(plan, stage);
      most = Math.max(most, Math.max(groups.tensor().contention(), groups.data().contention()));
    }
    return most;
  }

  /** Passes through layers that all devices of a group compute alike; of blocks there are none. */
  private double redundantSeconds(PipelinePlan plan) {
    StagePlan only = plan.stages().get(0);
    Parallelism.Kind kind = only.parallelism().kind();
    if (kind != Parallelism.Kind.FILTER
        && kind != Parallelism.Kind.CHANNEL
        && kind != Parallelism.Kind.SPATIAL) {
      return 0;
    }
    int slice = StageCosts.slice(plan.microBatching(), only.replicas());
    double[] whole = seconds(network.costs(), slice);
    double[] own = seconds(oracle.part(only.parallelism(), true), slice);
    double redundant = 0;
    for (int at = 0; at < whole.length; at++) {
      redundant += whole[at] == own[at] ? whole[at] : 0;
    }
    return redundant * oracle.groups(plan, 0).slowdown();
  }

  /** Of both passes through each layer. */
  private static double[] seconds(StageCosts costs, int slice) {
    Profile profile = costs.workload().profile();
    double[] seconds = profile.seconds(Quantity.FORWARD, slice);
    double[] backward = profile.seconds(Quantity.BACKWARD, slice);
    Arrays.setAll(seconds, layer -> seconds[layer] + backward[layer]);
    return seconds;
  }

  /** Of the sums of gradients by the algorithms that suit them best. */
  private double cheapestExchangeSeconds(PipelinePlan plan) {
    Workload priced = network.costs().workload();
    Cluster cluster = priced.cluster();
    Software cheapest = cluster.software().with(AllReduceAlgorithm.CHEAPEST);
    Workload there =
        new Workload(
            priced.chain(), priced.profile(), priced.training(), cluster.withSoftware(cheapest));
    PipelineOracle elsewhere = new PipelineOracle(new StageCosts(there), new PathFormula());
    PipelinePlan best = cheapest(plan, elsewhere);
    return exchangeSeconds(elsewhere.stages(best)) + sumSeconds(elsewhere.zero(best));
  }

  /** Exposed seconds of ZeRO's sums of gradients during a step's passes. */
  private static double sumSeconds(Optional<ZeroCosts> zero) {
    return zero.map(shards -> shards.sumSeconds(SHARDED)).orElse(0.0);
  }

  /** The plan whose groups sum what their parts add up to as an oracle finds fastest. */
  private static PipelinePlan cheapest(PipelinePlan plan, PipelineOracle oracle) {
    return Arrays.stream(Reduction.values())
        .map(reduction -> summed(plan, reduction))
        .min(Comparator.comparingDouble(each -> exchangeSeconds(oracle.stages(each))))
        .orElseThrow();
  }

  private static PipelinePlan summed(PipelinePlan plan, Reduction reduction) {
    return plan.with(
        plan.stages().stream()
            .map(stage -> stage.with(stage.parallelism().with(reduction)))
            .toList());
  }

  private static double exchangeSeconds(List<StageCost> stages) {
    return stages.stream().mapToDouble(StageCost::exposedAllReduceSeconds).max().orElse(0);
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
    double arithmetic = Math.max(0, rest) / software().waiting(plan.devices());
    return all.with(Phase.FORWARD_BACKWARD, arithmetic)
        .with(Phase.WAITING, Math.max(0, rest) - arithmetic);
  }

  private Software software() {
    return network.workload().cluster().software();
  }

  private static Phase phase(GroupExchange.Kind kind) {
    return switch (kind) {
      case SUM -> Phase.LAYER_ALL_REDUCE;
      case GATHER, SUM_PARTS, ALL_TO_ALL -> Phase.LAYER_ALL_GATHER;
      case HALO -> Phase.HALO;
    };
  }

  /**
   * The plan that a layout stands for; throws {@link IllegalArgumentException} where its schedule
   * is not for so many ranks and micro-batches.
   */
  PipelinePlan plan(Layout layout, long globalBatch) {
    int microBatches = layout.segments();
    boolean even = globalBatch % ((long) layout.groups() * microBatches) == 0;
    int replicas = even ? layout.groups() : 1; // of one stage, which slices what is uneven
    int microBatch = Math.toIntExact(globalBatch / replicas / microBatches);
    int ranks = layout.stages();
    ScheduleSpec spec = spec(ranks, microBatches);
    int chunks = ranks == 1 ? 1 : setting.degrees().schedule().chunks();
    StageCut cut = chunks > 1 ? network.evenStages(ranks * chunks) : network.stages(ranks);
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
              parallelism(layout, even ? microBatch : 1),
              layout.recompute(),
              inFlight[stage],
              recomputed(layout.recompute(), first, last)));
    }
    boolean overlap = layout.devices() > ranks; // where several devices hold a stage
    PipelinePlan made = new PipelinePlan(spec, microBatches, microBatch, replicas, overlap, stages);
    boolean chosen = setting.exchange() == Exchange.CHEAPEST && !layout.grid().isEmpty();
    PipelinePlan sharded = made.with(sharding(layout));
    return chosen ? cheapest(sharded, oracle) : sharded;
  }

  /**
   * The devices of a rank in all groups. Divided layers take neighbours, then copies of the
   * network, then stages, as Megatron-LM numbers its ranks; a pipeline alone fills nodes with its
   * stages (ParaDL §4.5).
   */
  private static List<Integer> devices(Layout layout, int rank) {
    int groups = layout.groups();
    if (layout.parts() == 1 && !layout.strategy().dividesBlocks()) {
      return IntStream.range(0, groups).map(g -> g * layout.stages() + rank).boxed().toList();
    }
    int count = groups * layout.parts();
    return IntStream.range(rank * count, (rank + 1) * count).boxed().toList();
  }

  private static ZeroStage sharding(Layout layout) {
    return ZeroStage.of(layout.strategy().zeroStage()).orElseThrow();
  }

  /**
   * How a group divides layers.
   *
   * @param samples of a group, where all have as many; otherwise 1
   */
  private Parallelism parallelism(Layout layout, int samples) {
    if (layout.parts() == 1) {
      return Parallelism.NONE;
    }
    Parallelism.Kind kind =
        switch (layout.strategy().split()) {
          case NOTHING -> Parallelism.Kind.NONE;
          case FILTERS -> Parallelism.Kind.FILTER;
          case CHANNELS -> Parallelism.Kind.CHANNEL;
          case POSITIONS -> Parallelism.Kind.SPATIAL;
          case HEADS -> Parallelism.Kind.TENSOR;
          case SEQUENCES -> Parallelism.Kind.SEQUENCE;
          case TOKENS -> Parallelism.Kind.CONTEXT;
          case EXPERTS -> Parallelism.Kind.EXPERT;
        };
    if (kind == Parallelism.Kind.EXPERT) {
      return Parallelism.ofExperts(layout.parts(), samples).with(setting.reduction());
    }
    List<Integer> grid = layout.grid().isEmpty() ? List.of(layout.parts()) : layout.grid();
    return new Parallelism(kind, grid, setting.reduction());
  }

  /** Each layer alone, where every one keeps its input. */
  private static List<LayerRange> recomputed(Recompute recompute, int first, int last) {
    return recompute == Recompute.SELECTIVE
        ? IntStream.rangeClosed(first, last).mapToObj(at -> new LayerRange(at, at)).toList()
        : List.of();
  }

  private MemoryUse memory(Assessment priced, double buffers) {
    MemoryUse most = new MemoryUse(0, 0, 0, 0, 0);
    for (PeakMemory peak : priced.memory()) {
      MemoryUse use =
          new MemoryUse(
              peak.states().parameters(),
              peak.states().gradients(),
              peak.states().optimizer(),
              peak.activationBytes() + peak.workingBytes() - buffers,
              buffers);
      most = use.total() > most.total() ? use : most;
    }
    return setting.memoryReuse().isPresent()
        ? most.times(setting.memoryReuse().getAsDouble())
        : most;
  }
}
