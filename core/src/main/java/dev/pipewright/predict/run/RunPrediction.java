package dev.pipewright.predict.run;

import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.StageLoads;
import dev.pipewright.cost.TableCopies;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.exchange.Segment;
import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.Emulation.LayerSeconds;
import dev.pipewright.execution.SteadyWindow;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.ConsecutiveSteps;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.StepEnd;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The prediction of a run from a profile and a cluster, for any schedule: seconds of each op, of a
 * step, and bytes of each rank's workers.
 */
public final class RunPrediction {
  /** Ops before the one that needs a message, from where on a worker has room for it. */
  public static final int OPS_AHEAD = 4;

  /** Gradients that are summed at once: what PyTorch's data parallelism takes, too. */
  public static final long BUCKET_BYTES = Segment.BUCKET_BYTES;

  private static final int STEADY = 4; // steps, of which the last is like all that follow

  private static final int FILLED = 2; // rounds for each stage

  private final StageCosts costs; // of whole layers
  private final Assignment assignment;
  private final List<Integer> devices;
  private final Assignment filled; // with enough steps that flow to have all stages at work
  private final StageLoads loads;
  private final Emulation emulation;
  private @Nullable OpTimes times; // once asked for

  /**
   * Of workers on the first devices of the cluster.
   *
   * @param costs of the positions of the network's chain
   */
  public RunPrediction(StageCosts costs, Assignment assignment) {
    this(costs, assignment, IntStream.range(0, assignment.size()).boxed().toList());
  }

  /**
   * The same on any devices.
   *
   * @param devices of the cluster, by worker
   */
  public RunPrediction(StageCosts costs, Assignment assignment, List<Integer> devices) {
    int there = costs.workload().cluster().size();
    Check.that(
        devices.size() == assignment.size() && devices.stream().allMatch(d -> d < there),
        "each worker needs a device: workers=%d, devices of the cluster=%d",
        assignment.size(),
        there);
    this.costs = TableCopies.counted(costs);
    this.assignment = assignment;
    this.devices = List.copyOf(devices);
    this.filled =
        assignment
            .asyncPipeline()
            .map(asyncPipeline ->
                assignment.over(asyncPipeline.round() * FILLED * (asyncPipeline.stages() + 1)))
            .orElse(assignment);
    this.loads = new StageLoads(this.costs, assignment, this.devices);
    this.emulation = emulation();
  }

  /**
   * What each layer takes on the devices of its stage, where it is split its largest part; without
   * what workers tell each other.
   */
  public Emulation layers() {
    return emulation;
  }

  /** What each op takes. */
  public OpTimes times() {
    if (times == null) {
      times = OpSeconds.of(loads, filled, filled);
    }
    return times;
  }

  /**
   * A step alone whose messages are late but delay no other: its longest path. Where steps into one
   * another, as many as fill all stages.
   */
  public Run longestPath() {
    return run(filled, Conditions.PLAIN);
  }

  /** The same; messages of a cut and direction go one after the other. */
  public Run simulate() {
    return run(filled, SimulatedOracle.USUAL);
  }

  /** Of a run of steps that flow into one another, one in the middle. */
  public Run oneOf(Run all) {
    return new SteadyWindow(filled, filled.steps() / 2).of(all);
  }

  private Run run(Assignment steps, Conditions conditions) {
    return steps.asyncPipeline().isPresent()
        ? StaticSimulator.run(steps.schedule(), OpSeconds.of(loads, steps, filled), conditions)
        : StaticSimulator.run(StepEnd.of(steps.schedule()), times(), conditions);
  }

  /**
   * Seconds from the end of a step to the end of the next. Ranks that are done early begin the next
   * one early, so this may be less than a step alone takes.
   */
  public double simulatedStepSeconds() {
    if (assignment.asyncPipeline().isPresent()) {
      return asynchronous(SimulatedOracle.USUAL);
    }
    double before = ending(STEADY - 1);
    return ending(STEADY) - before;
  }

  /** Of steps in the middle of many: by how much a longer run is longer. */
  private double asynchronous(Conditions conditions) {
    int more = 2 * filled.steps();
    double longer = run(assignment.over(filled.steps() + more), conditions).makespan();
    return (longer - run(filled, conditions).makespan()) / more;
  }

  private double ending(int steps) {
    Schedule schedule = ConsecutiveSteps.of(StepEnd.of(assignment.schedule()), steps);
    return StaticSimulator.run(schedule, times(), SimulatedOracle.USUAL).makespan();
  }

  /**
   * The step of the default cost model where it knows the schedule, all sums of gradients and all
   * updates, as without tied tables; its longest path otherwise. Of an asynchronous pipeline the
   * time from the end of one step to that of the next.
   */
  public double predictedStepSeconds() {
    if (assignment.asyncPipeline().isPresent()) {
      return asynchronous(Conditions.PLAIN);
    }
    return assignment
        .asPlan(devices)
        .filter(plan -> costs.workload().chain().graph().tiedTables().isEmpty())
        .map(plan -> CostModel.PIPEWRIGHT.oracle(costs).assess(plan).stepSeconds())
        .orElseGet(() -> longestPath().makespan());
  }

  private Emulation emulation() {
    LayerSeconds[] layers = new LayerSeconds[costs.size()];
    for (int depth = 0; depth < assignment.stages().size(); depth++) {
      LayerRange range = assignment.stages().get(depth).range();
      double slowdown = loads.slowdown(depth);
      double pace = loads.pace(depth);
      int slice = loads.slice(depth);
      StageCosts own = loads.costs(depth);
      double[] forward = own.seconds(Quantity.FORWARD, slice);
      boolean split = assignment.splitsBackward(depth);
      double[] input = own.seconds(split ? Quantity.INPUT_GRADIENT : Quantity.BACKWARD, slice);
      double[] weight =
          split ? own.seconds(Quantity.WEIGHT_GRADIENT, slice) : new double[input.length];
      double[] update = own.seconds(Quantity.UPDATE, slice);
      for (int at = range.first(); at <= range.last(); at++) {
        layers[at] =
            new LayerSeconds(
                forward[at] * pace, input[at] * pace, weight[at] * pace, update[at] * slowdown);
      }
    }
    return new Emulation(List.of(layers));
  }

  /** What is trained, and how fast where a step takes so many seconds. */
  public TrainingFigures figures(double stepSeconds) {
    List<Integer> perRank =
        IntStream.range(0, assignment.stages().size()).mapToObj(loads::slice).toList();
    return TrainingFigures.of(
        costs.workload(), assignment.batch(), perRank, stepSeconds, assignment.size());
  }

  /** The most bytes that each worker of a rank holds. */
  public double[] peakBytes() {
    Optional<Run> run = assignment.asyncPipeline().map(asyncPipeline -> simulate());
    RankBytes bytes = new RankBytes(loads, filled, run);
    return IntStream.range(0, assignment.schedule().ranks()).mapToDouble(bytes::bytes).toArray();
  }
}
