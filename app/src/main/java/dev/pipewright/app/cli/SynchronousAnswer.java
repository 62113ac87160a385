package dev.pipewright.app.cli;

import dev.pipewright.app.report.text.Words;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.PlanJson;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.PlanFit;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.planner.Evaluation;
import dev.pipewright.planner.OneDevice;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.ScheduledPlanner;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.units.Units;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** The best plan of synchronous training, or a given one, scored. */
final class SynchronousAnswer implements Answer.Remarks {
  private final PlannerEntry planner;
  private final Request request;
  private final Planning planning;
  private final StageCosts costs;
  private final boolean ended;
  private final Optional<Choice> schedule;

  private SynchronousAnswer(
      PlannerEntry planner,
      Request request,
      Planning planning,
      StageCosts costs,
      boolean ended,
      Optional<Choice> schedule) {
    this.planner = planner;
    this.request = request;
    this.planning = planning;
    this.costs = costs;
    this.ended = ended;
    this.schedule = schedule;
  }

  /** Plans, or scores the plan that the flags name. */
  static Answer of(
      String planner,
      String model,
      ModelArgument arguments,
      SynchronousFlags flags,
      SearchDeadline patience) {
    Request asked = flags.request(planner);
    Costed costed =
        arguments.costed(model, Optional.empty(), OptionalInt.empty(), asked.globalBatch());
    return of(planner, costed, arguments, flags, asked.withStages(flags.stages(costed)), patience);
  }

  /** All layers on one device. */
  static Answer oneDevice(
      String model, ModelArgument arguments, SynchronousFlags flags, SearchDeadline patience) {
    String straight = "straight";
    Request request = flags.request(straight).withStages(OptionalInt.of(1));
    Costed costed =
        arguments.costed(model, Optional.empty(), OptionalInt.empty(), request.globalBatch());
    return of(straight, costed, arguments, flags, request, patience);
  }

  private static Answer of(
      String planner,
      Costed costed,
      ModelArgument arguments,
      SynchronousFlags flags,
      Request request,
      SearchDeadline patience) {
    StageCosts costs = costed.costs();
    PlannerEntry entry = PlannerCatalog.find(planner).orElseThrow();
    Optional<Choice> schedule = flags.anySchedule(planner);
    long start = System.nanoTime();
    Planning planning;
    if (flags.evaluate().isPresent()) {
      planning = evaluated(flags.evaluate().get(), costed, request);
    } else {
      SizeLimits.devices(costed.workload().cluster());
      planning = planned(entry, schedule, costs, request, patience);
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    OptionalInt batch = arguments.profileBatch();
    return new Answer(
        planning,
        Answer.Subject.of(costed, batch, request.globalBatch()),
        seconds,
        new SynchronousAnswer(entry, request, planning, costs, patience.ended(), schedule));
  }

  private static Planning planned(
      PlannerEntry planner,
      Optional<Choice> schedule,
      StageCosts costs,
      Request request,
      SearchDeadline patience) {
    Oracle decider = decider(costs);
    if (schedule.isPresent()) {
      return ScheduledPlanner.plan(schedule.get(), costs, request, decider, patience);
    }
    return planner.search().plan(costs, request, decider, patience);
  }

  /** The simulator, on the stage times of the default cost model. */
  private static Oracle decider(StageCosts costs) {
    return new SimulatedOracle(new PipelineOracle(costs, new PathFormula()));
  }

  private static Planning evaluated(Path path, Costed costed, Request request) {
    PlanFile file = PlanJson.read(path);
    SizeLimits.passes(path.toString(), file.plan());
    if (!request.costModel().isFor(request.globalBatch(), file.plan())) {
      throw new BadInputException(
          "%s: the plan processes %d samples per step, not %d; give --global-batch %d or change the plan"
              .formatted(
                  path,
                  file.plan().globalBatch(),
                  request.globalBatch(),
                  file.plan().globalBatch()));
    }
    for (String problem : PlanFit.problems(file.plan(), costed)) {
      throw new BadInputException(path + ": " + problem);
    }
    StageCosts costs = costed.costs();
    Oracle simulator =
        new SimulatedOracle(request.costModel().oracle(costs, request.globalBatch()));
    try {
      return Evaluation.of(
          costs, file.plan(), request.globalBatch(), request.costModel(), simulator);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(path + ": " + e.getMessage());
    }
  }

  @Override
  public Optional<String> nothing() {
    if (schedule.isPresent()) {
      return schedule.map(choice -> ScheduledPlanner.sentence(choice, costs, request));
    }
    return Optional.of(planner.remedy().sentence(costs, request));
  }

  @Override
  public List<String> of() {
    List<String> remarks = new ArrayList<>();
    if (ended) {
      remarks.add("the search was ended early; " + gap());
    } else if (planner.proves() && !planning.isGiven() && !planning.search().exhaustive()) {
      remarks.add(
          "the best is not proven, since memory was full or placements are too many; " + gap());
    }
    leftOver().ifPresent(remarks::add);
    slowdown().ifPresent(remarks::add);
    tooLarge().ifPresent(reason -> remarks.add("does not fit: " + reason));
    return remarks;
  }

  /** That more devices do not help, where they do not. */
  private Optional<String> slowdown() {
    if (request.costModel() == CostModel.DAPPLE_REPO || planning.best().isEmpty()) {
      return Optional.empty();
    }
    Candidate best = planning.best().get();
    if (best.plan().devices() == 1) {
      return planning.candidates().stream()
          .filter(other -> other.plan().devices() > 1)
          .findFirst()
          .map(other ->
              "one device is the fastest: the best of more takes %s (%s), not %s"
                  .formatted(
                      Units.seconds(other.seconds()), other.kind(), Units.seconds(best.seconds())));
    }
    return OneDevice.best(costs, request, decider(costs))
        .filter(alone -> alone.seconds() < best.seconds())
        .map(alone ->
            "one device alone takes %s, less than the %s of this plan; more devices do not pay here"
                .formatted(Units.seconds(alone.seconds()), Units.seconds(best.seconds())));
  }

  /** That micro-batches do not divide the global batch, where the cost model lets them. */
  private Optional<String> leftOver() {
    return planning
        .best()
        .map(Candidate::plan)
        .filter(plan -> plan.globalBatch() != request.globalBatch())
        .map(plan ->
            "micro-batches of %d over %s do not divide %d samples: dapple-repo spreads all of them over %s, as the authors' program does; a real step of this plan processes %d"
                .formatted(
                    plan.microBatch(),
                    Words.count(plan.replicas(), "replica"),
                    request.globalBatch(),
                    Words.count(plan.microBatches(), "micro-batch"),
                    plan.globalBatch()));
  }

  private String gap() {
    return planning
        .best()
        .map(best -> best.seconds() / planning.lowerBound().value() - 1)
        .filter(Double::isFinite)
        .map(above ->
            "the best so far is "
                + Units.percent(above)
                + " above the lower bound ("
                + planning.lowerBound().why()
                + ")")
        .orElse("nothing was found so far");
  }

  private Optional<String> tooLarge() {
    return limitsMemory() ? planning.best().flatMap(Answer::doesNotFit) : Optional.empty();
  }

  /** The authors' program knows no memory, so its plans are not held against it. */
  @Override
  public boolean limitsMemory() {
    return request.costModel() != CostModel.DAPPLE_REPO;
  }
}
