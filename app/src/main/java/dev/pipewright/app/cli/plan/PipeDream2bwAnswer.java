package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.input.Levels;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.plan.AsynchronousSheet;
import dev.pipewright.app.report.plan.PlanSheet;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cost.AsynchronousCosts;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.PipeDream2bwJson;
import dev.pipewright.formats.SteadyFigures;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.model.Chain;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Remedy;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanner;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning;
import dev.pipewright.planner.pipedream.PipeDream2bwSetting;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** A plan of PipeDream-2BW's planner, shown in the forms that {@code plan} offers. */
public final class PipeDream2bwAnswer implements PlannerAnswer {
  private final PipeDream2bwSetting setting;
  private final PipeDream2bwPlanning planning;
  private final PipeDream2bwJson.Context context;
  private final String title;
  private final Optional<AsynchronousPlan> plan;
  private final Optional<SteadyFigures> steady;
  private final double oneDeviceSeconds;
  private final StageCosts costs;

  private PipeDream2bwAnswer(
      PipeDream2bwSetting setting,
      PipeDream2bwPlanning planning,
      PipeDream2bwJson.Context context,
      String title,
      StageCosts costs) {
    this.setting = setting;
    this.planning = planning;
    this.context = context;
    this.title = title;
    this.costs = costs;
    this.plan = planning.best().map(PipeDream2bwAnswer::plan);
    this.steady =
        plan.flatMap(runs -> SteadyRun.of(runs, costs, planning.best().orElseThrow().seconds()));
    double[] update = costs.updateSeconds();
    this.oneDeviceSeconds = planning.singleDeviceSeconds() + update[update.length - 1];
  }

  /**
   * Plans on a cluster of equal groups, whose smallest device sets the memory.
   *
   * @param flags whose global batch is the samples of an update
   */
  static PipeDream2bwAnswer of(
      String model, ModelArgument arguments, SynchronousFlags flags, SearchDeadline patience) {
    int globalBatch = flags.globalBatch();
    Costed costed = arguments.costed(model, Optional.empty(), OptionalInt.empty(), globalBatch);
    Workload workload = costed.workload();
    SizeLimits.devices(workload.cluster());
    SizeLimits.searched("pipedream-2bw", costed.costs().size());
    Bytes memory =
        workload.cluster().devices().stream()
            .map(DeviceKind::memory)
            .min(Bytes::compareTo)
            .orElseThrow();
    PipeDream2bwSetting setting =
        new PipeDream2bwSetting(
            workload.chain(),
            workload.profile(),
            workload.training(),
            Levels.of(workload.cluster()).levels(),
            memory.value(),
            globalBatch,
            flags.stages(costed));
    long start = System.nanoTime();
    PipeDream2bwPlanning planning = PipeDream2bwPlanner.plan(setting, patience);
    double seconds = (System.nanoTime() - start) / 1e9;
    Chain chain = workload.chain();
    return new PipeDream2bwAnswer(
        setting,
        planning,
        new PipeDream2bwJson.Context(
            madeFor(costed, arguments, globalBatch),
            workload.profile().provenance().toString(),
            memory.value(),
            samples -> chain.cumulative(workload.profile().seconds(Quantity.FORWARD, samples)),
            seconds),
        costed.model() + " on " + workload.cluster().name(),
        costed.costs());
  }

  /** What a plan for a model on a cluster says of them. */
  static MadeFor madeFor(Costed costed, ModelArgument arguments, int globalBatch) {
    return new MadeFor(
        Optional.of(costed.model()),
        Optional.of(costed.cluster()),
        OptionalLong.of(globalBatch),
        arguments.profileBatch(),
        Optional.of(costed.workload().training()),
        costed.memory());
  }

  private List<StageMemory> memory() {
    return plan.map(runs -> new AsynchronousCosts(costs, runs).memory()).orElse(List.of());
  }

  /** The best plan as it runs. */
  Optional<AsynchronousPlan> plan() {
    return plan;
  }

  /** The figures of its steady state, where it could be simulated. */
  Optional<SteadyFigures> steady() {
    return steady;
  }

  @Override
  public Optional<TrainingFigures> figures() {
    return plan.map(runs ->
        TrainingFigures.of(
            costs.workload(),
            runs.globalBatch(),
            List.of(runs.microBatch()),
            steady
                .map(SteadyFigures::seconds)
                .orElseGet(() -> planning.best().orElseThrow().seconds()),
            runs.stages().stream().mapToInt(StagePlan::replicas).sum()));
  }

  private static AsynchronousPlan plan(PipeDream2bwPlanning.Candidate best) {
    return new AsynchronousPlan(
        Rule.TWO_BUFFERS,
        best.microBatches(),
        best.microBatch(),
        best.width(),
        best.stages().stream().map(stage -> stage(stage, best.recompute())).toList());
  }

  private static StagePlan stage(PipeDream2bwPlanning.Stage stage, boolean recompute) {
    return new StagePlan(
        stage.firstLayer(),
        stage.lastLayer(),
        stage.devices(),
        recompute ? Recompute.STAGE_INPUT : Recompute.NONE,
        stage.inFlight());
  }

  @Override
  public String json() {
    return PipeDream2bwJson.text(planning, context, memory(), steady, oneDeviceSeconds);
  }

  @Override
  public void print(PrintWriter out) {
    out.print(sheet().text(Terminal.columns(), Terminal.colours()));
  }

  private PlanSheet sheet() {
    return AsynchronousSheet.of(
        planning,
        planning.best().orElseThrow(),
        new AsynchronousSheet.Context(
            title, context.provenance(), context.planningSeconds(), steady, oneDeviceSeconds),
        setting.memoryBytes());
  }

  @Override
  public Optional<String> nothing() {
    if (planning.best().isPresent()) {
      return Optional.empty();
    }
    if (!planning.exact()) {
      return Optional.of("nothing was found before the search was ended; give it more time");
    }
    if (planning.leastPeakBytes() == Double.POSITIVE_INFINITY && setting.stages().isPresent()) {
      return Optional.of(
          "no pipeline of %d stages has a layer on one path and a micro-batch for each of them out of %d samples; take a larger global batch, or fewer stages"
              .formatted(setting.stages().getAsInt(), setting.globalBatch()));
    }
    return Optional.of(
        planning.leastPeakBytes() == Double.POSITIVE_INFINITY
            ? "no pipelines use all %d devices with a micro-batch for each stage out of %d samples; take a larger global batch that %d divides"
                .formatted(setting.devices(), setting.globalBatch(), setting.devices())
            : "the devices have %s each; %s on each of the %d would do"
                .formatted(
                    Bytes.of(setting.memoryBytes()),
                    Remedy.roundedUp(planning.leastPeakBytes()),
                    setting.devices()));
  }

  @Override
  public List<String> remarks() {
    return planning.exact()
        ? List.of()
        : List.of(
            "the search was ended early; the best so far is "
                + planning
                    .best()
                    .map(best -> Units.percent(best.seconds() / planning.lowerBound().value() - 1))
                    .orElseThrow()
                + " above the lower bound ("
                + planning.lowerBound().why()
                + ")");
  }

  @Override
  public List<String> files() {
    return SteadyRun.files(steady);
  }

  @Override
  public void write(OutputFolder out) {
    out.write(
        "plan.json",
        PipeDream2bwJson.text(
            planning,
            context.withMadeFor(PipeDreamAnswer.anywhere(context.madeFor())),
            memory(),
            steady,
            oneDeviceSeconds));
    steady.ifPresent(figures -> SteadyRun.write(out, sheet(), plan.orElseThrow(), costs, figures));
  }
}
