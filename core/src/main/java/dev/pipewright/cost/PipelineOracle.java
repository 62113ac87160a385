package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.exchange.GroupExchanges;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.StepEnd;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Prices a plan on the real topology: stage times from the profile, exchanges of tensor-parallel
 * groups, split/concat between stages, all-reduce per stage, memory per device; a {@link
 * PipelineFormula} turns them into a step time.
 */
public final class PipelineOracle implements Oracle {
  private static final int MOST_GROUPS = 1 << 12;

  private final StageCosts costs;
  private final PipelineFormula formula;
  private final Conditions conditions; // of orders that have no closed form
  private final StageTransfers transfers;
  private final Remembered<Divided, StageCosts> parts;
  private final Remembered<Parallelism, Optional<String>> refusals;
  private final Map<Holders, StageGroups> groups; // seen lately
  private final Map<Exchanging, StageExchanges> exchanges; // likewise

  /** How a device's stages divide layers, and whether all stages do. */
  private record Divided(Parallelism parallelism, boolean alike) {}

  /** Devices of a stage. */
  private record Holders(List<Integer> devices, StageGroups.Division division) {}

  /** A stage whose tensor-parallel groups exchange. */
  private record Exchanging(
      Collectives tensor,
      Collectives betweenCopies,
      LayerRange range,
      Divided divided,
      int slice) {}

  public PipelineOracle(StageCosts costs, PipelineFormula formula) {
    this.costs = costs;
    this.formula = formula;
    this.conditions = Conditions.PLAIN;
    this.transfers = new StageTransfers(costs, this::groups);
    this.parts = new Remembered<>();
    this.refusals = new Remembered<>();
    this.groups = Collections.synchronizedMap(new HashMap<>());
    this.exchanges = Collections.synchronizedMap(new HashMap<>());
  }

  private PipelineOracle(PipelineOracle other, Conditions conditions) {
    this.costs = other.costs;
    this.formula = other.formula;
    this.conditions = conditions;
    this.transfers = other.transfers;
    this.parts = other.parts;
    this.refusals = other.refusals;
    this.groups = other.groups;
    this.exchanges = other.exchanges;
  }

  /**
   * The same, but where an order has no closed form, messages of a cut and direction go one after
   * the other, as the simulator has them: schedules with many chunks send so many that a slow link
   * decides their step. It remembers with this one.
   */
  public PipelineOracle withQueues() {
    return new PipelineOracle(this, SimulatedOracle.USUAL);
  }

  @Override
  public Assessment assess(PipelinePlan plan) {
    List<StageCost> stages = stages(plan);
    if (plan.spec() instanceof PipelinePolicy) {
      return new Assessment(formula.name(), byFormula(plan, stages), stages);
    }
    Run run = replayed(plan, stages);
    return new Assessment(
        formula.name(), run.makespan(), stages, PlanMemory.peaks(plan.placement(), stages, run));
  }

  /** The step of a plan whose stages cost this, as {@link #assess} has it of its own stages. */
  public double stepSeconds(PipelinePlan plan, List<StageCost> stages) {
    return plan.spec() instanceof PipelinePolicy
        ? byFormula(plan, stages)
        : replayed(plan, stages).makespan();
  }

  /** The longest path through the order of work, by running it once. */
  private Run replayed(PipelinePlan plan, List<StageCost> stages) {
    Check.that(
        formula.isLongestPath(),
        "the cost model %s knows the schedules 1f1b, 1f1b-b and gpipe, not %s; take pipewright",
        formula.name(),
        plan.spec().scheduleName());
    return StaticSimulator.run(StepEnd.of(plan.schedule()), StepTimes.of(plan, stages), conditions);
  }

  /**
   * Where stages keep the last micro-batch a bound that is no longer than the step: all recomputed,
   * less what each saves once, or nothing recomputed.
   */
  private double byFormula(PipelinePlan plan, List<StageCost> stages) {
    double saved = stages.stream().mapToDouble(StageCost::savedSeconds).sum();
    double all = byFormula(plan, stages, 0);
    return saved == 0 ? all : Math.max(all - saved, byFormula(plan, stages, 1));
  }

  /**
   * The formula's.
   *
   * @param saves the part of what the last micro-batch saves that all do
   */
  private double byFormula(PipelinePlan plan, List<StageCost> stages, int saves) {
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
  public List<StageCost> stages(PipelinePlan plan) {
    checkBelongs(plan);
    List<StageCost> stages = new ArrayList<>();
    int devices = plan.devices();
    boolean alike = plan.dividesAlike();
    Optional<ZeroCosts> zero = zero(plan);
    List<StageGroups> groups = new ArrayList<>();
    for (int s = 0; s < plan.stages().size(); s++) {
      groups.add(groups(plan, s));
    }
    for (int s = 0; s < plan.stages().size(); s++) {
      int index = s;
      StageCost whole = stage(plan, s, devices, groups, alike);
      stages.add(zero.map(shards -> shards.of(index, whole)).orElse(whole));
    }
    return stages;
  }

  /** What ZeRO does to a plan; empty where it shards no states. */
  public Optional<ZeroCosts> zero(PipelinePlan plan) {
    return plan.sharding() == ZeroStage.NOTHING
        ? Optional.empty()
        : Optional.of(new ZeroCosts(costs, parts(plan.dividesAlike()), this::groups, plan));
  }

  private Function<Parallelism, StageCosts> parts(boolean alike) {
    return each -> part(each, alike);
  }

  private void checkBelongs(PipelinePlan plan) {
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
      checkParallelism(plan, stage);
      for (int device : stage.devices()) {
        Check.that(
            device >= 0 && device < cluster.size(),
            "device %d is not in the cluster, which has 0..%d",
            device,
            cluster.size() - 1);
      }
    }
  }

  private void checkParallelism(PipelinePlan plan, StagePlan stage) {
    if (stage.parallelism().several()) {
      Check.that(
          stage.replicas() <= plan.microBatching(),
          "layers [%d, %d] have %d tensor-parallel groups for %d samples of a micro-batch",
          stage.firstLayer(),
          stage.lastLayer(),
          stage.replicas(),
          plan.microBatching());
      refusals
          .of(stage.parallelism(), this::refusal)
          .ifPresent(why -> Check.that(false, "%s", why));
    }
  }

  private Optional<String> refusal(Parallelism parallelism) {
    return new ParallelismLimits(costs.workload().chain().graph()).refusal(parallelism);
  }

  /**
   * Seconds that a stage's tensor-parallel groups exchange in the passes over one micro-batch,
   * recomputation included; empty where its devices divide no layers. {@link #stages} counts them
   * as part of the passes.
   */
  public Map<GroupExchange.Kind, Double> exchangeSeconds(PipelinePlan plan, int index) {
    StagePlan stage = plan.stages().get(index);
    Map<GroupExchange.Kind, Double> seconds = new EnumMap<>(GroupExchange.Kind.class);
    if (stage.parallelism().several()) {
      StageGroups groups = groups(plan, index);
      int slice = StageCosts.slice(plan.microBatching(), plan.slices(index));
      for (GroupExchange.Kind kind : GroupExchange.Kind.values()) {
        StageExchanges some =
            exchanges(stage, plan.dividesAlike(), groups, slice, each -> each.kind() == kind);
        double all = some.passes(stage.firstLayer(), stage.lastLayer() + 1);
        for (LayerRange again : stage.recomputed()) {
          all += some.forward(again.first(), again.last() + 1);
        }
        if (all > 0) {
          seconds.put(kind, all);
        }
      }
    }
    return seconds;
  }

  /**
   * A stage where each device has all of its states.
   *
   * @param devices of the plan
   * @param all groups of all stages
   * @param alike whether all stages divide layers alike
   */
  private StageCost stage(
      PipelinePlan plan, int index, int devices, List<StageGroups> all, boolean alike) {
    StagePlan stage = plan.stages().get(index);
    StageGroups groups = all.get(index);
    StageCosts part = part(stage.parallelism(), alike);
    int slice = StageCosts.slice(plan.microBatching(), plan.slices(index));
    Optional<StageExchanges> exchanges = exchanges(stage, alike, groups, slice);
    int first = stage.firstLayer();
    int end = stage.lastLayer() + 1;
    double[] forward = part.forwardSeconds(slice);
    double[] backward = part.backwardSeconds(slice);
    double pace = pace(devices, groups);
    double forwardSeconds =
        (forward[end] - forward[first]) * pace
            + exchanges.map(each -> each.forward(first, end)).orElse(0.0);
    double backwardSeconds =
        (backward[end] - backward[first]) * pace
            + exchanges.map(each -> each.backward(first, end)).orElse(0.0);
    Optional<PartlyKept> kept =
        stage.recompute() == Recompute.SELECTIVE
            ? Optional.of(StageKeeping.partlyKept(stage, part, pace, exchanges, slice))
            : Optional.empty();
    double again = // seconds of a micro-batch
        stage.recompute().wholeStage()
            ? forwardSeconds
            : kept.map(PartlyKept::extraSeconds).orElse(0.0);
    double messages =
        part.messageSeconds(first, end, slice, plan.crosses(index - 1), plan.crosses(index));
    StageTransfers.Seconds transfer = transfers.of(plan, index, all, alike);
    GradientSumSeconds sums = new GradientSumSeconds(part, first, end, stage.parallelism(), groups);
    double reduce = sums.seconds();
    double exposed = plan.overlapGradients() ? sums.exposed(slice, pace) : reduce;
    double update = part.updateSeconds()[end] - part.updateSeconds()[first];
    return new StageCost(
        forwardSeconds + messages,
        backwardSeconds + again + messages,
        weightSeconds(plan, part, first, end, slice) * pace,
        stage.recompute() == Recompute.EXCEPT_LAST ? again : 0,
        transfer.there(),
        transfer.back(),
        reduce,
        exposed,
        Math.max(0, update) * groups.slowdown(), // sums differ by rounding
        StageKeeping.memory(stage, part, kept, slice, plan.microBatches(), groups.capacity()));
  }

  /** Seconds of a pass for each second on the profile's device, waiting included. */
  private double pace(int devices, StageGroups groups) {
    return groups.slowdown() * costs.workload().cluster().software().waiting(devices);
  }

  /** What the weights' gradient takes of a backward pass, where the schedule splits it. */
  private static double weightSeconds(
      PipelinePlan plan, StageCosts part, int first, int end, int slice) {
    return plan.splitsBackward() ? part.seconds(Quantity.WEIGHT_GRADIENT, slice, first, end) : 0;
  }

  /** Who communicates with whom in a stage of a plan. */
  public StageGroups groups(PipelinePlan plan, int index) {
    return groups(plan.holders(index), plan.stages().get(index).parallelism());
  }

  private StageGroups groups(List<Integer> devices, Parallelism parallelism) {
    if (groups.size() >= MOST_GROUPS) {
      groups.clear();
    }
    Holders holders = new Holders(devices, StageGroups.Division.of(parallelism));
    return groups.computeIfAbsent(holders, this::groups);
  }

  private StageGroups groups(Holders holders) {
    int[] devices = holders.devices().stream().mapToInt(Integer::intValue).toArray();
    if (holders.division().parts() == 1) {
      Arrays.sort(devices);
    }
    return StageGroups.of(costs, devices, holders.division());
  }

  /**
   * What layers cost a device of a group that divides them so.
   *
   * @param alike whether all stages do
   */
  public StageCosts part(Parallelism parallelism, boolean alike) {
    return parallelism.several()
        ? parts.of(
            new Divided(parallelism, alike),
            key -> costs.with(ShardedProfile.of(costs.workload(), parallelism, alike)))
        : costs;
  }

  /** Within the stage's tensor-parallel groups; empty where it has none. */
  private Optional<StageExchanges> exchanges(
      StagePlan stage, boolean alike, StageGroups groups, int slice) {
    return stage.parallelism().several()
        ? Optional.of(exchanged(stage, alike, groups, slice))
        : Optional.empty();
  }

  private StageExchanges exchanged(StagePlan stage, boolean alike, StageGroups groups, int slice) {
    if (exchanges.size() >= MOST_GROUPS) {
      exchanges.clear();
    }
    LayerRange range = new LayerRange(stage.firstLayer(), stage.lastLayer());
    return exchanges.computeIfAbsent(
        new Exchanging(
            groups.tensor(),
            groups.betweenCopies(),
            range,
            new Divided(stage.parallelism(), alike),
            slice),
        key -> exchanges(stage, alike, groups, slice, each -> true));
  }

  /** Those that count. */
  private StageExchanges exchanges(
      StagePlan stage,
      boolean alike,
      StageGroups groups,
      int slice,
      Predicate<GroupExchange> counts) {
    LayerRange range = new LayerRange(stage.firstLayer(), stage.lastLayer());
    return StageExchanges.of(
        costs,
        new PartTimes(costs.workload()),
        groups,
        GroupExchanges.of(costs.workload().chain(), range, stage.parallelism(), alike).stream()
            .filter(counts)
            .toList(),
        stage.parallelism(),
        slice);
  }
}
