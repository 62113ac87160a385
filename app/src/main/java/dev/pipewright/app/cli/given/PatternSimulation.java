package dev.pipewright.app.cli.given;

import dev.pipewright.app.cli.plan.PatternAnswer;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.plan.PlanSheet;
import dev.pipewright.app.report.plan.RoundsSheet;
import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.cost.Misfit;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.plan.PatternPlan.Stage;
import dev.pipewright.planner.madpipe.PlacedPattern;
import dev.pipewright.planner.madpipe.PlacedPattern.Placed;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.sim.repeated.PatternTasks;
import dev.pipewright.sim.repeated.RepeatedRun;
import dev.pipewright.sim.repeated.Task;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A pattern unrolled over some periods, devices and links each doing one thing at a time: once with
 * no op before its time, and once with all as soon as they can in the same order.
 *
 * @param onTime seconds of a mini-batch with no op before its time
 * @param early the same with all as soon as they can
 * @param periods over which these are means
 * @param peaks that each device of the cluster holds at most
 * @param slowness how many times as long each device takes
 */
public record PatternSimulation(
    GivenPattern given,
    PlacedPattern plan,
    double onTime,
    double early,
    int periods,
    double[] peaks,
    double[] slowness)
    implements SimulationResult {
  private static final int MEASURED = 24;

  static PatternSimulation of(GivenPattern given, PlacedPattern plan, double[] slowness) {
    Pattern pattern = plan.pattern();
    List<Task> tasks = PatternTasks.of(pattern, true, slowness);
    int rounds = 2 * RepeatedRun.rounds(tasks, pattern.batches()) + MEASURED;
    if ((long) rounds * tasks.size() > SizeLimits.PASSES) {
      throw new BadInputException(
          "%s: %d ops over %d periods are more than can be simulated; take fewer stages or smaller shifts"
              .formatted(given.path(), tasks.size(), rounds));
    }
    RepeatedRun run = run(given, pattern, tasks, pattern.period(), rounds);
    List<Task> eager = PatternTasks.of(pattern, false, slowness);
    RepeatedRun free = run(given, pattern, eager, 0, rounds);
    double[] peaks = run.peaks(PatternTasks.taken(pattern), PatternTasks.released(pattern));
    return new PatternSimulation(
        given,
        plan,
        run.period(MEASURED) / pattern.batches(),
        free.period(MEASURED) / pattern.batches(),
        MEASURED,
        withState(given, plan, peaks),
        slowness);
  }

  private static RepeatedRun run(
      GivenPattern given, Pattern pattern, List<Task> tasks, double period, int rounds) {
    try {
      int ranks = pattern.placement().ranks();
      return RepeatedRun.of(tasks, ranks, pattern.batches(), period, rounds);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(
          given.path()
              + ": ops of its pattern wait for each other in a circle; give shifts and starts of one that can run");
    }
  }

  /** With what is there at any time, and working space where there is a stage. */
  private static double[] withState(GivenPattern given, PlacedPattern plan, double[] peaks) {
    int devices = given.cluster().size();
    double[] all = new double[devices];
    for (int device = 0; device < devices; device++) {
      all[device] = device < devicesOf(plan) ? peaks[device] : 0;
    }
    double working = given.problem().workingBytes();
    plan.stages().stream()
        .mapToInt(Placed::device)
        .distinct()
        .forEach(device -> all[device] += working);
    for (int s = 0; s < plan.stages().size(); s++) {
      all[plan.stages().get(s).device()] += plan.pattern().stages().get(2 * s).stateBytes();
    }
    return all;
  }

  /** Ranks below are devices, those from there on are links. */
  private static int devicesOf(PlacedPattern plan) {
    return plan.stages().stream().mapToInt(Placed::device).max().orElse(0) + 1;
  }

  @Override
  public Optional<TrainingFigures> figures() {
    return Optional.of(
        PatternAnswer.figures(given.costed().workload(), plan, given.file().plan().microBatch()));
  }

  @Override
  public Optional<String> doesNotFit() {
    return given.misfits(plan).stream().findFirst().map(Misfit::toString);
  }

  /** The part of a mini-batch's time for which a device that there is computes nothing. */
  private double idleShare() {
    double busy = Arrays.stream(plan.busySeconds(peaks.length)).sum();
    return Math.max(0, 1 - busy / peaks.length / onTime);
  }

  @Override
  public String text() {
    return sheet().text(Terminal.columns(), Terminal.colours());
  }

  @Override
  public void write(OutputFolder folder) {
    PatternAnswer.pictures(
        folder,
        sheet(),
        plan,
        given.problem(),
        given.costed().costs(),
        onTime,
        idleShare(),
        slowness);
  }

  private PlanSheet sheet() {
    List<Figure> lines = new ArrayList<>();
    lines.add(
        new Figure(
            "mini-batch",
            Units.seconds(onTime),
            "simulated, mean of %s in the steady state, each op at its planned time"
                .formatted(Words.count(periods, "period"))));
    OptionalDouble stated = given.file().objective();
    if (stated.isPresent()) {
      lines.add(
          PlanSheet.fact("planned", Words.planned(stated.getAsDouble(), onTime, "simulation")));
    }
    lines.add(
        PlanSheet.fact(
            "unplanned",
            (Units.seconds(early).equals(Units.seconds(onTime)) ? "the same" : Units.seconds(early))
                + " where each op runs as soon as its order and inputs allow"));
    lines.add(PlanSheet.idle(idleShare()));
    return RoundsSheet.of(
        given.costed().model() + " on " + given.cluster().name(),
        "the pattern of %s, repeated: %s%s; each link carries one message at a time, overlapped with computation"
            .formatted(
                plan.discipline(),
                Words.count(plan.stages().size(), "stage"),
                PatternAnswer.period(plan)),
        lines,
        "computes",
        rows());
  }

  private List<RoundsSheet.Row> rows() {
    double[] busy = plan.busySeconds(peaks.length);
    int[] held = plan.held();
    List<RoundsSheet.Row> rows = new ArrayList<>();
    for (int device = 0; device < peaks.length; device++) {
      List<String> work = new ArrayList<>();
      for (int s = 0; s < held.length; s++) {
        Stage stage = given.file().plan().stages().get(s);
        if (stage.device() == device) {
          int layers = stage.end() - stage.first();
          work.add(
              "%s (%d held%s)"
                  .formatted(
                      PatternAnswer.layers(stage.first(), stage.end() - 1),
                      held[s],
                      PatternAnswer.again(stage.again(), layers)));
        }
      }
      rows.add(
          new RoundsSheet.Row(
              device,
              work.isEmpty() ? "nothing" : String.join(", ", work),
              busy[device] == 0 ? "–" : Units.seconds(busy[device]),
              busy[device] / onTime,
              "%s of %s"
                  .formatted(
                      Units.binary(peaks[device], "B"), given.cluster().device(device).memory())));
    }
    return rows;
  }

  @Override
  public String json() {
    Map<String, Object> object =
        SimulationJson.head(
            given.costed(),
            plan.discipline().toString(),
            "minibatch_s",
            onTime,
            given.file().objective());
    Map<String, Object> simulated = new LinkedHashMap<>();
    simulated.put("minibatch_s", onTime);
    simulated.put("as_soon_as_possible_s", early);
    simulated.put("periods", periods);
    simulated.put("period_s", onTime * plan.pattern().batches());
    simulated.put("period_minibatches", plan.pattern().batches());
    simulated.put("idle_share", idleShare());
    simulated.put("steady_idle_share", idleShare());
    simulated.put("peak_bytes", Arrays.stream(peaks).mapToObj(Math::round).toList());
    object.put("simulated", simulated);
    return JsonText.of(object);
  }
}
