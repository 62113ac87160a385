package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.plan.PlanSheet;
import dev.pipewright.app.report.plan.RoundsSheet;
import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.app.report.timeline.Shown;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.PeriodicJson;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.madpipe.PeriodicPlanning;
import dev.pipewright.planner.madpipe.PeriodicProblem;
import dev.pipewright.planner.madpipe.PlacedPattern;
import dev.pipewright.planner.madpipe.PlacedPattern.Placed;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.sim.repeated.PatternTimeline;
import dev.pipewright.sim.repeated.PatternTimeline.Device;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A pattern of ops that repeats, of stages of which a device may have several. */
public final class PatternAnswer extends SteadyAnswer {
  private final PeriodicPlanning planning;
  private final SteadyProblem problem;
  private final double planningSeconds;

  PatternAnswer(PeriodicPlanning planning, SteadyProblem problem, double planningSeconds) {
    super(planning);
    this.planning = planning;
    this.problem = problem;
    this.planningSeconds = planningSeconds;
  }

  @Override
  double seconds() {
    return objective();
  }

  @Override
  public String json() {
    return json(problem.madeFor());
  }

  private String json(MadeFor named) {
    return PeriodicJson.text(
        planning,
        named,
        problem.provenance(),
        planning
            .best()
            .map(plan -> memory(problem.costs(), planning.problem(), plan))
            .orElse(List.of()),
        planningSeconds);
  }

  @Override
  public void write(OutputFolder out) {
    out.write("plan.json", json(Answer.anywhere(problem.madeFor())));
    PlacedPattern plan = planning.best().orElseThrow();
    pictures(
        out,
        sheet(plan),
        plan,
        planning.problem(),
        problem.costs(),
        plan.secondsPerBatch(),
        plan.idleShare(planning.problem().devices()));
  }

  @Override
  public List<String> files() {
    return Answer.FILES;
  }

  /**
   * Pictures of a pattern no op of which starts before its time.
   *
   * @param seconds of a mini-batch in the steady state
   * @param idleShare of the devices' time in the steady state
   */
  public static void pictures(
      OutputFolder out,
      PlanSheet sheet,
      PlacedPattern plan,
      PeriodicProblem problem,
      StageCosts costs,
      double seconds,
      double idleShare,
      double... slowness) {
    Pattern pattern = plan.pattern();
    PlanPictures.write(
        out,
        sheet,
        PatternTimeline.of(pattern, devices(costs, problem, plan), slowness),
        "The pipeline fills and runs for %s; a longer run repeats the last one."
            .formatted(Words.count(PatternTimeline.periods(pattern), "period")),
        new Shown.Period(seconds * pattern.batches(), pattern.batches(), idleShare));
  }

  private static List<Device> devices(
      StageCosts costs, PeriodicProblem problem, PlacedPattern plan) {
    List<StageMemory> memory = memory(costs, problem, plan);
    List<Device> devices = new ArrayList<>();
    for (int device : plan.stages().stream().map(Placed::device).distinct().sorted().toList()) {
      double states = 0;
      double working = problem.workingBytes();
      List<Integer> stages = new ArrayList<>();
      for (int stage = 0; stage < memory.size(); stage++) {
        if (plan.stages().get(stage).device() == device) {
          double all = plan.pattern().stages().get(2 * stage).stateBytes();
          double known = Math.min(all, memory.get(stage).staticBytes());
          states += known;
          working += all - known;
          stages.add(stage);
        }
      }
      devices.add(new Device(device, stages, states, working, problem.memoryBytes()));
    }
    return devices;
  }

  /**
   * What each stage takes of its device. Stages of one device share its working space, which counts
   * for each of them here; recomputation is working space of a stage's own.
   */
  static List<StageMemory> memory(StageCosts costs, PeriodicProblem problem, PlacedPattern plan) {
    List<StageMemory> memory = new ArrayList<>();
    int[] held = plan.held();
    List<Placed> stages = plan.inNetwork(problem.chain()).stages();
    for (int stage = 0; stage < held.length; stage++) {
      Placed placed = stages.get(stage);
      StageLoad load = plan.pattern().stages().get(2 * stage);
      States states = costs.states(placed.first(), placed.end());
      memory.add(
          new StageMemory(
              states,
              load.activationBytes(),
              held[stage],
              problem.workingBytes()
                  + Math.max(0, load.stateBytes() - states.all()), // never below by rounding
              costs.workload().cluster().device(placed.device()).memory()));
    }
    return memory;
  }

  @Override
  public Optional<TrainingFigures> figures() {
    int samples = (int) problem.madeFor().globalBatch().orElse(1);
    return planning.best().map(plan -> figures(problem.costs().workload(), plan, samples));
  }

  /** Of a pattern whose mini-batches have so many samples. */
  public static TrainingFigures figures(Workload workload, PlacedPattern plan, int samples) {
    int devices = (int) plan.stages().stream().map(Placed::device).distinct().count();
    return TrainingFigures.of(workload, samples, List.of(samples), plan.secondsPerBatch(), devices);
  }

  @Override
  public void print(PrintWriter out) {
    if (planning.best().isEmpty()) {
      return;
    }
    out.print(sheet(planning.best().get()).text(Terminal.columns(), Terminal.colours()));
  }

  private PlanSheet sheet(PlacedPattern plan) {
    List<Figure> lines = new ArrayList<>();
    lines.add(
        new Figure("mini-batch", Units.seconds(plan.secondsPerBatch()), "in the steady state"));
    LowerBound bound = planning.lowerBound();
    lines.add(
        new Figure(
            "lower bound",
            Units.seconds(bound.value()),
            "(%s); the plan is %s above%s"
                .formatted(
                    bound.why(),
                    Units.percent(planning.gap()),
                    planning.complete() ? "" : ", and the search was ended early")));
    lines.add(PlanSheet.fact("bound by", planning.binding()));
    runnerUp(plan).ifPresent(words -> lines.add(PlanSheet.fact("instead", words)));
    lines.add(PlanSheet.idle(plan.idleShare(planning.problem().devices())));
    lines.add(PlanSheet.fact("planned", "in " + Units.seconds(planningSeconds)));
    return RoundsSheet.of(
        problem.model() + " on " + problem.costs().workload().cluster().name(),
        "a periodic pipeline without flushes: %s, mini-batches of %s%s, schedule %s"
            .formatted(
                Words.count(plan.stages().size(), "stage"),
                Words.count(problem.madeFor().globalBatch().orElse(1), "sample"),
                period(plan),
                plan.discipline()),
        lines,
        "computes",
        rows(plan));
  }

  private Optional<String> runnerUp(PlacedPattern best) {
    if (best.contiguous()) {
      return planning
          .plain()
          .map(plain -> "1F1B: %s (%s)".formatted(Units.seconds(plain.secondsPerBatch()), plain));
    }
    return Optional.of(
        planning
            .contiguous()
            .map(one ->
                "one stage per device: %s, %s times as long (%s)"
                    .formatted(
                        Units.seconds(one.secondsPerBatch()),
                        Units.significant(planning.contiguousRatio()),
                        one.inNetwork(planning.problem().chain())))
            .orElse("one stage per device: nothing fits"));
  }

  /** How many of a stage's layers are recomputed, after other words; empty where none are. */
  public static String again(List<LayerRange> runs, int layers) {
    int count = runs.stream().mapToInt(run -> run.last() - run.first() + 1).sum();
    return runs.isEmpty() ? "" : ", %d of %d recomputed".formatted(count, layers);
  }

  /** {@code , 2 in a period of 322 ms}; nothing for one, whose period is a mini-batch's time. */
  public static String period(PlacedPattern plan) {
    int batches = plan.pattern().batches();
    return batches == 1
        ? ""
        : ", %d in a period of %s".formatted(batches, Units.seconds(plan.pattern().period()));
  }

  /** {@code layers 0–10}, {@code layer 21}. */
  public static String layers(int first, int last) {
    return (first == last ? "layer " : "layers ") + Words.range(first, last);
  }

  private List<RoundsSheet.Row> rows(PlacedPattern plan) {
    double[] bytes = planning.problem().bytes(plan);
    double[] busy = plan.busySeconds(planning.problem().devices());
    int[] held = plan.held();
    PlacedPattern named = plan.inNetwork(planning.problem().chain());
    List<RoundsSheet.Row> rows = new ArrayList<>();
    for (int device = 0; device < bytes.length; device++) {
      List<String> work = new ArrayList<>();
      for (int stage = 0; stage < held.length; stage++) {
        Placed placed = named.stages().get(stage);
        if (placed.device() == device) {
          work.add(
              "%s (%d held%s)"
                  .formatted(
                      layers(placed.first(), placed.end() - 1),
                      held[stage],
                      again(placed.again(), placed.end() - placed.first())));
        }
      }
      rows.add(
          new RoundsSheet.Row(
              device,
              work.isEmpty() ? "nothing" : String.join(", ", work),
              busy[device] == 0 ? "–" : Units.seconds(busy[device]),
              busy[device] / plan.secondsPerBatch(),
              "%s of %s"
                  .formatted(
                      Units.binary(bytes[device], "B"),
                      Units.binary(planning.problem().memoryBytes(), "B"))));
    }
    return rows;
  }
}
