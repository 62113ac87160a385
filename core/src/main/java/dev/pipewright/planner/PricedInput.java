package dev.pipewright.planner;

import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StepTimes;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.schedule.FixedOrder;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.ScheduleInput;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.schedule.search.ScheduleSearch;
import dev.pipewright.schedule.search.SearchDepth;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** What a schedule is made for where its stages are priced: durations, and what memory holds. */
final class PricedInput implements ScheduleInput {
  private final int ranks;
  private final int microBatches;
  private final int chunks;
  private final PipelineOracle oracle;
  private final Function<FixedOrder, PipelinePlan> plans;
  private final Map<List<Object>, ScheduleSearch> known;
  private SearchDepth depth = SearchDepth.FULL;

  /**
   * @param plans the plan of an order of work
   * @param known searches for schedules, also those that begin here
   */
  PricedInput(
      int ranks,
      int microBatches,
      int chunks,
      PipelineOracle oracle,
      Function<FixedOrder, PipelinePlan> plans,
      Map<List<Object>, ScheduleSearch> known) {
    this.ranks = ranks;
    this.microBatches = microBatches;
    this.chunks = chunks;
    this.oracle = oracle;
    this.plans = plans;
    this.known = known;
  }

  @Override
  public int stages() {
    return ranks;
  }

  @Override
  public int microBatches() {
    return microBatches;
  }

  @Override
  public int chunks() {
    return chunks;
  }

  @Override
  public int[] replicasOfStages() {
    int[] replicas = new int[ranks];
    Arrays.fill(replicas, 1);
    return replicas;
  }

  @Override
  public Schedule searched(List<Object> key, Supplier<ScheduleSearch> search) {
    return known.computeIfAbsent(key, missing -> search.get()).found(depth);
  }

  /** How far searches go from now on. */
  void to(SearchDepth depth) {
    this.depth = depth;
  }

  @Override
  public OpTimes opTimes(Placement placement) {
    PipelinePlan plan = plans.apply(once(placement));
    return StepTimes.of(plan, oracle.stages(plan));
  }

  /** Of one direction, wherever its stages are. */
  private Placement placement() {
    return chunks == 1 ? Placement.straight(ranks) : Placement.waves(ranks, chunks);
  }

  /** What fits a rank's memory with its states and one pass's working space. */
  @Override
  public double[] caps(int ranks) {
    Placement placement = placement();
    List<StageCost> stages = oracle.stages(plans.apply(once(placement)));
    double[] free = new double[ranks];
    double[] working = new double[ranks];
    double[] held = new double[ranks];
    Arrays.fill(free, Double.POSITIVE_INFINITY);
    double[] states = new double[ranks];
    for (int stage = 0; stage < stages.size(); stage++) {
      int rank = placement.rankOf(stage);
      StageCost.StageMemory memory = stages.get(stage).memory();
      free[rank] = Math.min(free[rank], (double) memory.capacity().value());
      working[rank] = Math.max(working[rank], memory.workingBytes());
      states[rank] += memory.staticBytes();
      held[rank] += memory.heldBytes();
    }
    double[] caps = new double[ranks];
    Arrays.setAll(caps, rank -> (free[rank] - states[rank] - working[rank]) / held[rank]);
    return caps;
  }

  /** One micro-batch in each direction, to price stages by. */
  private static FixedOrder once(Placement placement) {
    Program[] programs = new Program[placement.ranks()];
    Arrays.setAll(programs, rank -> new Program());
    for (int stage = 0; stage < placement.stages(); stage++) {
      programs[placement.rankOf(stage)].add(Pass.FORWARD, stage, 0);
    }
    for (int stage = placement.stages() - 1; stage >= 0; stage--) {
      programs[placement.rankOf(stage)]
          .add(Pass.BACKWARD_INPUT, stage, 0)
          .add(Pass.BACKWARD_WEIGHT, stage, 0);
    }
    long[][] packed = Arrays.stream(programs).map(Program::packed).toArray(long[][]::new);
    return FixedOrder.of(new Schedule("once", placement, 1, packed));
  }
}
