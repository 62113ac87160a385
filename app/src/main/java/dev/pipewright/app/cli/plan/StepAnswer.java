package dev.pipewright.app.cli.plan;

import dev.pipewright.api.Oracles;
import dev.pipewright.api.Planned;
import dev.pipewright.api.PlannedForTarget;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Misfit;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.imported.PlanImports;
import dev.pipewright.formats.problem.StepOptions;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.OneDevice;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.reasons.Reasons;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Units;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/** The best plan of a step of synchronous training, or a given one, scored. */
public final class StepAnswer implements Answer.Remarks {
  private static final String THREADS = "thread(s)"; // how profiles of processors end
  private static final String PROCESSOR = "processor"; // of `--cluster local`

  private final Planned found;
  private final boolean ended;
  private final Reasons reasons;
  private final Optional<PlannedForTarget> target;

  private StepAnswer(
      Planned found, boolean ended, Reasons reasons, Optional<PlannedForTarget> target) {
    this.target = target;
    this.found = found;
    this.ended = ended;
    this.reasons = reasons;
  }

  /** Plans, or scores the plan that the flags name. */
  static Answer of(
      String planner,
      String model,
      ModelArgument arguments,
      SynchronousFlags flags,
      StepOptions step,
      Optional<ExportFlags.Target> target,
      SearchDeadline patience) {
    Optional<Path> given = flags.evaluate();
    if (given.isPresent()) {
      flags.reasons().refuse("leave out --evaluate");
      return evaluated(planner, model, arguments, given.get(), step, patience);
    }
    Problem problem =
        new Problem(arguments.named(model, Optional.empty(), OptionalInt.empty()), step);
    Function<Problem, PlannedForTarget> plans = asked -> plan(asked, planner, target, patience);
    PlannedForTarget found = plans.apply(problem);
    boolean ended = patience.ended();
    Reasons reasons =
        flags.reasons().of(problem, found.planned(), there -> plans.apply(there).planned());
    return of(found.planned(), arguments.profileBatch(), ended, reasons, Optional.of(found));
  }

  /** Plans for a target, or for none. */
  static PlannedForTarget plan(
      Problem problem,
      String planner,
      Optional<ExportFlags.Target> target,
      SearchDeadline patience) {
    return target
        .map(to -> Planners.planFor(problem, planner, to.name(), to.around(), patience))
        .orElseGet(() -> PlannedForTarget.of(Planners.plan(problem, planner, patience)));
  }

  private static Answer evaluated(
      String planner,
      String model,
      ModelArgument arguments,
      Path given,
      StepOptions step,
      SearchDeadline patience) {
    int devices = arguments.cluster(Optional.empty()).size();
    PlanFile<PipelinePlan> file = PlanImports.readStep(given, OptionalInt.of(devices));
    if (file.madeFor().sequence().isPresent()) {
      arguments.fallBackTo(model, file.madeFor().sequence().getAsInt());
    }
    Problem problem =
        new Problem(arguments.named(model, Optional.empty(), OptionalInt.empty()), step);
    Planned found = Oracles.evaluate(problem, file.plan(), planner, given.toString());
    return of(found, arguments.profileBatch(), patience.ended());
  }

  /**
   * What a planner answered.
   *
   * @param ended whether the search was ended early
   */
  public static Answer of(Planned found, OptionalInt profileBatch, boolean ended) {
    return of(found, profileBatch, ended, Reasons.NONE, Optional.empty());
  }

  private static Answer of(
      Planned found,
      OptionalInt profileBatch,
      boolean ended,
      Reasons reasons,
      Optional<PlannedForTarget> target) {
    return new Answer(
        found.planning(),
        Answer.Subject.of(found.costed(), profileBatch, found.request().globalBatch()),
        found.searchSeconds(),
        new StepAnswer(found, ended, reasons, target));
  }

  @Override
  public Reasons reasons() {
    return reasons;
  }

  @Override
  public Optional<PlanExporter> exporter() {
    return planning()
        .best()
        .map(best ->
            new PlanExporter(
                    found.costed(),
                    request().costModel(),
                    request().globalBatch(),
                    best.plan(),
                    Optional.empty())
                .insteadOf(target));
  }

  @Override
  public Optional<String> nothing() {
    return found.reason();
  }

  @Override
  public List<String> of() {
    if (planning().objective() == Objective.COST) {
      return ended ? List.of("the search was ended early; this is the cheapest so far") : List.of();
    }
    if (planning().objective() == Objective.P95) {
      return ended ? List.of("the search was ended early; this is the best so far") : List.of();
    }
    if (planning().objective() == Objective.PEAK_MEMORY) {
      return ended && !planning().search().exhaustive()
          ? List.of("the search was ended early; this is the best so far")
          : List.of();
    }
    List<String> remarks = new ArrayList<>();
    if (ended) {
      remarks.add("the search was ended early; " + gap());
    } else if (found.planner().steps().orElseThrow().proves()
        && !planning().isGiven()
        && !planning().search().exhaustive()) {
      remarks.add(
          "the best is not proven, since memory was full or placements are too many; " + gap());
    }
    elsewhere().ifPresent(remarks::add);
    extrapolated().ifPresent(remarks::add);
    leftOver().ifPresent(remarks::add);
    slowdown().ifPresent(remarks::add);
    tooLarge().ifPresent(reason -> remarks.add("does not fit: " + reason));
    return remarks;
  }

  private Planning planning() {
    return found.planning();
  }

  private Request request() {
    return found.request();
  }

  /** That more devices do not help, where they do not. */
  private Optional<String> slowdown() {
    if (request().costModel() == CostModel.DAPPLE_REPO || planning().best().isEmpty()) {
      return Optional.empty();
    }
    Candidate best = planning().best().get();
    if (best.plan().devices() == 1) {
      return planning().candidates().stream()
          .filter(other -> other.plan().devices() > 1)
          .findFirst()
          .map(other ->
              "one device is the fastest: the best of more takes %s (%s), not %s"
                  .formatted(
                      Units.seconds(other.seconds()), other.kind(), Units.seconds(best.seconds())));
    }
    StageCosts costs = found.costed().costs();
    return OneDevice.best(costs, request(), Planners.decider(costs))
        .filter(alone -> alone.seconds() < best.seconds())
        .map(alone ->
            "one device alone takes %s, less than the %s of this plan; more devices do not pay here"
                .formatted(Units.seconds(alone.seconds()), Units.seconds(best.seconds())));
  }

  /** That a processor's times are taken for those of GPUs. */
  private Optional<String> elsewhere() {
    Provenance from = found.costed().workload().profile().provenance();
    String kind = found.costed().workload().cluster().device(0).name();
    return from.measured() && from.device().endsWith(THREADS) && !kind.equals(PROCESSOR)
        ? Optional.of(
            "the layers' times were measured on a processor (%s) and count for %s as they are; measure where such devices are"
                .formatted(from.device(), kind))
        : Optional.empty();
  }

  /** How far the plan's micro-batches are beyond those that were measured. */
  private Optional<String> extrapolated() {
    Profile profile = found.costed().workload().profile();
    List<Integer> measured = profile.samples();
    int most = measured.get(measured.size() - 1);
    int samples = planning().best().map(best -> onADevice(best.plan())).orElse(0);
    return profile.provenance().measured() && samples > most
        ? Optional.of(
            "the layers' times were measured for up to %s and are extrapolated to the %d of a micro-batch on a device, %s times as many; measure as many to be sure"
                .formatted(
                    Words.count(most, "sample"),
                    samples,
                    Units.significant((double) samples / most)))
        : Optional.empty();
  }

  /** The most samples of a micro-batch that a device, or a tensor-parallel group, computes. */
  private static int onADevice(PipelinePlan plan) {
    return plan.stages().stream()
        .mapToInt(stage -> Math.ceilDiv(plan.microBatching(), stage.replicas()))
        .max()
        .orElse(0);
  }

  /** That micro-batches do not divide the global batch, where the cost model lets them. */
  private Optional<String> leftOver() {
    return planning()
        .best()
        .map(Candidate::plan)
        .filter(plan -> plan.globalBatch() != request().globalBatch())
        .map(plan ->
            "micro-batches of %d over %s do not divide %d samples: dapple-repo spreads all of them over %s, as the authors' program does; a real step of this plan processes %d"
                .formatted(
                    plan.microBatch(),
                    Words.count(plan.replicas(), "replica"),
                    request().globalBatch(),
                    Words.count(plan.microBatches(), "micro-batch"),
                    plan.globalBatch()));
  }

  private String gap() {
    return planning()
        .best()
        .map(best -> best.seconds() / planning().lowerBound().value() - 1)
        .filter(Double::isFinite)
        .map(above ->
            "the best so far is "
                + Units.percent(above)
                + " above the lower bound ("
                + planning().lowerBound().why()
                + ")")
        .orElse("nothing was found so far");
  }

  private Optional<Misfit> tooLarge() {
    return limitsMemory() ? planning().best().flatMap(Answer::doesNotFit) : Optional.empty();
  }

  /** The authors' program knows no memory, so its plans are not held against it. */
  @Override
  public boolean limitsMemory() {
    return request().costModel() != CostModel.DAPPLE_REPO;
  }
}
