package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.plan.AsynchronousSheet;
import dev.pipewright.app.report.plan.PlanSheet;
import dev.pipewright.cost.AsynchronousCosts;
import dev.pipewright.cost.Misfit;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.PipeDream2bwJson;
import dev.pipewright.formats.PipeDreamJson;
import dev.pipewright.formats.SteadyFigures;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.model.Chain;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.SteadyPlanning;
import dev.pipewright.planner.SteadyRequest;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning;
import dev.pipewright.planner.pipedream.PipeDreamPlanning;
import dev.pipewright.planner.pipedream.RecomputedStages;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** A pipeline whose stages update their weights while later micro-batches are under way. */
final class AsynchronousAnswer extends SteadyAnswer {
  private final SteadyProblem problem;
  private final Optional<AsynchronousPlan> plan;
  private final Optional<SteadyFigures> steady;
  private final boolean knowsMemory; // the planner
  private final double oneDeviceSeconds;
  private final Shown shown;

  /** How an answer of a planner is shown. */
  private interface Shown {
    String json(MadeFor madeFor, AsynchronousAnswer answer);

    PlanSheet sheet(AsynchronousAnswer answer);
  }

  private AsynchronousAnswer(
      SteadyProblem problem,
      SteadyPlanning planning,
      double oneDeviceSeconds,
      boolean knowsMemory,
      Optional<AsynchronousPlan> plan,
      Shown shown) {
    super(planning);
    double[] update = problem.costs().updateSeconds();
    this.problem = problem;
    this.oneDeviceSeconds = oneDeviceSeconds + update[update.length - 1];
    this.knowsMemory = knowsMemory;
    this.plan = plan;
    this.steady = plan.flatMap(runs -> SteadyRun.of(runs, problem.costs(), planning.seconds()));
    this.shown = shown;
  }

  /** A plan of stages whose devices take mini-batches in turn, found without regard to memory. */
  static AsynchronousAnswer of(
      PipeDreamPlanning planning, SteadyProblem problem, SteadyRequest request, double seconds) {
    StageCosts costs = problem.costs();
    Profile profile = costs.workload().profile();
    double[] forward = profile.seconds(Quantity.FORWARD, request.samples(profile));
    List<Double> cumulative =
        Arrays.stream(costs.workload().chain().cumulative(forward)).boxed().toList();
    AsynchronousPlan kept = planning.plan(problem.batch().orElse(1));
    Shown shown =
        new Shown() {
          @Override
          public String json(MadeFor madeFor, AsynchronousAnswer answer) {
            return PipeDreamJson.text(
                planning,
                new PipeDreamJson.Context(
                    madeFor,
                    problem.provenance(),
                    problem.levels(),
                    planning.chargesTransfers(),
                    problem.batch(),
                    cumulative,
                    seconds),
                answer.plan.orElseThrow().stages(),
                answer.memory(),
                answer.steady,
                answer.oneDeviceSeconds);
          }

          @Override
          public PlanSheet sheet(AsynchronousAnswer answer) {
            String title = problem.model() + " on " + problem.devices();
            return AsynchronousSheet.of(planning, answer.context(title, seconds));
          }
        };
    return new AsynchronousAnswer(
        problem,
        planning,
        planning.singleDeviceSeconds(),
        false,
        Optional.of(RecomputedStages.where(costs, kept)),
        shown);
  }

  /** A plan of equal pipelines with two versions of the weights. */
  static AsynchronousAnswer of(
      PipeDream2bwPlanning planning, SteadyProblem problem, double seconds) {
    Chain chain = problem.costs().workload().chain();
    Profile profile = problem.costs().workload().profile();
    double capacity = planning.setting().memoryBytes();
    Shown shown =
        new Shown() {
          @Override
          public String json(MadeFor madeFor, AsynchronousAnswer answer) {
            return PipeDream2bwJson.text(
                planning,
                new PipeDream2bwJson.Context(
                    madeFor,
                    problem.provenance(),
                    capacity,
                    samples -> chain.cumulative(profile.seconds(Quantity.FORWARD, samples)),
                    seconds),
                answer.memory(),
                answer.steady,
                answer.oneDeviceSeconds);
          }

          @Override
          public PlanSheet sheet(AsynchronousAnswer answer) {
            String title = problem.model() + " on " + problem.cluster();
            return AsynchronousSheet.of(
                planning, planning.best().orElseThrow(), answer.context(title, seconds), capacity);
          }
        };
    return new AsynchronousAnswer(
        problem,
        planning,
        planning.singleDeviceSeconds(),
        true,
        planning.best().map(PipeDream2bwPlanning.Candidate::plan),
        shown);
  }

  private AsynchronousSheet.Context context(String title, double planningSeconds) {
    return new AsynchronousSheet.Context(
        title, problem.provenance(), planningSeconds, steady, oneDeviceSeconds);
  }

  private List<StageMemory> memory() {
    return plan.map(runs -> new AsynchronousCosts(problem.costs(), runs).memory())
        .orElse(List.of());
  }

  @Override
  double seconds() {
    return steady.map(SteadyFigures::seconds).orElse(Double.POSITIVE_INFINITY);
  }

  /** Where the planner does not know memory, the first stage that is too large for its devices. */
  @Override
  Optional<String> misfit() {
    return knowsMemory
        ? nothing()
        : plan.map(runs -> new AsynchronousCosts(problem.costs(), runs).misfits())
            .flatMap(misfits -> misfits.stream().findFirst())
            .map(Misfit::toString);
  }

  /** A planner that does not know memory has plans that are not held against it. */
  @Override
  public List<String> remarks() {
    List<String> remarks = new ArrayList<>(super.remarks());
    if (knowsMemory) {
      return remarks;
    }
    List<StagePlan> stages = plan.orElseThrow().stages();
    List<Integer> again =
        IntStream.range(0, stages.size())
            .filter(stage -> stages.get(stage).recompute() != Recompute.NONE)
            .boxed()
            .toList();
    if (!again.isEmpty()) {
      remarks.add(
          "stages %s fit only since they compute their layers again, which the objective does not count"
              .formatted(again));
    }
    misfit()
        .ifPresent(stage ->
            remarks.add(
                "does not fit, since %s plans without regard to memory: %s"
                    .formatted(plan.orElseThrow().rule().schedule(), stage)));
    return remarks;
  }

  /** Empty where nothing says how many samples a mini-batch has. */
  @Override
  public Optional<TrainingFigures> figures() {
    return plan.filter(runs -> problem.batch().isPresent())
        .map(runs ->
            TrainingFigures.of(
                problem.costs().workload(),
                runs.globalBatch(),
                List.of(runs.microBatch()),
                steady.map(SteadyFigures::seconds).orElseGet(this::objective),
                runs.stages().stream().mapToInt(StagePlan::replicas).sum()));
  }

  @Override
  public String json() {
    return shown.json(problem.madeFor(), this);
  }

  @Override
  public void print(PrintWriter out) {
    out.print(shown.sheet(this).text(Terminal.columns(), Terminal.colours()));
  }

  @Override
  public List<String> files() {
    return SteadyRun.files(steady);
  }

  @Override
  public void write(OutputFolder out) {
    out.write("plan.json", shown.json(Answer.anywhere(problem.madeFor()), this));
    steady.ifPresent(figures ->
        SteadyRun.write(out, shown.sheet(this), plan.orElseThrow(), problem.costs(), figures));
  }
}
