package dev.pipewright.app.cli;

import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.OutputFolder;
import dev.pipewright.formats.PeriodicJson;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.planner.periodic.PeriodBound;
import dev.pipewright.planner.periodic.PeriodicPlan;
import dev.pipewright.planner.periodic.PeriodicPlan.Placed;
import dev.pipewright.planner.periodic.PeriodicPlanner;
import dev.pipewright.planner.periodic.PeriodicPlanning;
import dev.pipewright.planner.periodic.PeriodicProblem;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A periodic planning, as text and as JSON. */
final class PeriodicAnswer implements PlannerAnswer {
  private final PeriodicPlanning planning;
  private final ModelArgument.Costed costed;
  private final MadeFor madeFor;
  private final double planningSeconds;

  /**
   * @param madeFor with the samples of a mini-batch as its global batch
   * @param planningSeconds how long the search took
   */
  PeriodicAnswer(
      PeriodicPlanning planning,
      ModelArgument.Costed costed,
      MadeFor madeFor,
      double planningSeconds) {
    this.planning = planning;
    this.costed = costed;
    this.madeFor = madeFor;
    this.planningSeconds = planningSeconds;
  }

  /** The same for a model whose file says which batch its times are for. */
  PeriodicAnswer(
      PeriodicPlanning planning, ModelArgument.Costed costed, int samples, double planningSeconds) {
    this(
        planning,
        costed,
        TwoBufferAnswer.madeFor(costed, new ModelArgument(), samples),
        planningSeconds);
  }

  /** Plans for mini-batches of the global batch's samples. */
  static PeriodicAnswer of(
      String model, ModelArgument arguments, SynchronousFlags flags, Patience patience) {
    int samples = flags.globalBatch();
    ModelArgument.Costed costed =
        arguments.costed(model, Optional.empty(), OptionalInt.empty(), samples);
    Limits.devices(costed.workload().cluster());
    long start = System.nanoTime();
    PeriodicProblem problem =
        PeriodicProblem.of(costed.costs(), samples)
            .recomputing(flags.layersAgain(Recomputation.SELECTIVE))
            .withStages(flags.stages(costed));
    PeriodicPlanning planning;
    try {
      planning = PeriodicPlanner.plan(problem, patience);
    } catch (IllegalArgumentException e) {
      throw new BadInputException("--planner madpipe: " + e.getMessage());
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    return new PeriodicAnswer(
        planning, costed, TwoBufferAnswer.madeFor(costed, arguments, samples), seconds);
  }

  PeriodicPlanning planning() {
    return planning;
  }

  @Override
  public String json() {
    return json(madeFor);
  }

  private String json(MadeFor named) {
    return PeriodicJson.text(
        planning, named, costed.workload().profile().provenance().toString(), planningSeconds);
  }

  @Override
  public void write(OutputFolder out) {
    out.write("plan.json", json(PipeDreamAnswer.anywhere(madeFor)));
  }

  @Override
  public Optional<TrainingFigures> figures() {
    int samples = (int) madeFor.globalBatch().orElse(1);
    return planning.best().map(plan -> figures(costed.workload(), plan, samples));
  }

  /** Of a pattern whose mini-batches have so many samples. */
  static TrainingFigures figures(Workload workload, PeriodicPlan plan, int samples) {
    int devices = (int) plan.stages().stream().map(Placed::device).distinct().count();
    return TrainingFigures.of(workload, samples, List.of(samples), plan.secondsPerBatch(), devices);
  }

  @Override
  public Optional<String> nothing() {
    return planning.best().isPresent() ? Optional.empty() : Optional.of(planning.binding());
  }

  @Override
  public List<String> remarks() {
    return planning.complete() || planning.best().isEmpty()
        ? List.of()
        : List.of(
            "the search was ended early; the best so far is %s above the lower bound (%s)"
                .formatted(Units.percent(planning.gap()), planning.bound().why()));
  }

  @Override
  public void print(PrintWriter out) {
    out.println(costed.model() + " on " + costed.workload().cluster().name());
    if (planning.best().isEmpty()) {
      return;
    }
    PeriodicPlan plan = planning.best().get();
    out.println();
    out.println(
        "  a mini-batch of %d every %s, %s of %s each; devices idle %s of it once the pipeline is full"
            .formatted(
                madeFor.globalBatch().orElse(1),
                Units.seconds(plan.secondsPerBatch()),
                plan.discipline(),
                Units.seconds(plan.pattern().period()),
                Units.percent(plan.idleShare(planning.problem().devices()))));
    PeriodBound bound = planning.bound();
    out.println(
        "  no plan is below %s (%s): gap %s%s"
            .formatted(
                Units.seconds(bound.seconds()),
                bound.why(),
                Units.percent(planning.gap()),
                planning.complete() ? "" : ", the search was cut short"));
    out.println("  " + planning.binding());
    runnerUp(plan).ifPresent(line -> out.println("  " + line));
    out.println();
    stages(out, plan);
  }

  private Optional<String> runnerUp(PeriodicPlan best) {
    if (best.contiguous()) {
      return planning
          .plain()
          .map(plain ->
              "1F1B would take %s (%s)".formatted(Units.seconds(plain.secondsPerBatch()), plain));
    }
    return Optional.of(
        planning
            .contiguous()
            .map(one ->
                "with one stage per device %s, %s times as long (%s)"
                    .formatted(
                        Units.seconds(one.secondsPerBatch()),
                        Units.significant(planning.contiguousRatio()),
                        one.inNetwork(planning.problem().chain())))
            .orElse("with one stage per device nothing fits"));
  }

  /** How many of a stage's layers run again, behind other words; empty where none do. */
  static String again(List<LayerRange> runs, int layers) {
    int count = runs.stream().mapToInt(run -> run.last() - run.first() + 1).sum();
    return runs.isEmpty() ? "" : ", %d of %d layers again".formatted(count, layers);
  }

  private void stages(PrintWriter out, PeriodicPlan plan) {
    double[] bytes = plan.bytes(planning.problem().devices());
    double[] busy = plan.busySeconds(planning.problem().devices());
    int[] held = plan.held();
    PeriodicPlan named = plan.inNetwork(planning.problem().chain());
    for (int device = 0; device < bytes.length; device++) {
      List<String> own = new ArrayList<>();
      for (int stage = 0; stage < held.length; stage++) {
        Placed placed = named.stages().get(stage);
        if (placed.device() == device) {
          StageLoad load = plan.pattern().stages().get(2 * stage);
          own.add(
              "layers %d–%d (%s, %d held%s)"
                  .formatted(
                      placed.first(),
                      placed.end() - 1,
                      Units.seconds(load.seconds()),
                      held[stage],
                      again(placed.again(), placed.end() - placed.first())));
        }
      }
      out.println(
          "  device %d: %s; busy %s, %s of %s"
              .formatted(
                  device,
                  own.isEmpty() ? "idle" : String.join(", ", own),
                  Units.percent(busy[device] / plan.secondsPerBatch()),
                  Units.binary(bytes[device], "B"),
                  Units.binary(planning.problem().capacityBytes(), "B")));
    }
  }
}
