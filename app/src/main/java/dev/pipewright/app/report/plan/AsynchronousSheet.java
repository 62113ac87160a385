package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.plan.PlanSheet.Part;
import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.formats.SteadyFigures;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning.Candidate;
import dev.pipewright.planner.pipedream.PipeDreamPlanning;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/** Sheets of asynchronous plans: as their planners found them, and as they were simulated. */
public final class AsynchronousSheet {
  private static final int DEVICES = 24; // columns
  private static final double UNLIMITED = 1L << 60; // bytes

  /**
   * What a sheet says in addition to the planning.
   *
   * @param title what is planned for what
   * @param provenance where the model's times come from
   * @param planningSeconds how long the search took
   * @param steady how the plan runs; empty where a run until the steady state would take too long
   * @param oneDeviceSeconds one device doing everything, its update included
   */
  public record Context(
      String title,
      String provenance,
      double planningSeconds,
      Optional<SteadyFigures> steady,
      double oneDeviceSeconds) {}

  /**
   * What a simulation found.
   *
   * @param title what runs on what
   * @param expected by the planner, where its file says
   * @param leftOut what the planner's formula does not count
   */
  public record Found(
      String title,
      Rule rule,
      double seconds,
      OptionalDouble expected,
      int rounds,
      double idleShare,
      String leftOut) {}

  /** A stage with the peak of its fullest device. */
  public record Simulated(StagePlan stage, int versions, double peakBytes, double capacityBytes) {}

  private AsynchronousSheet() {}

  /** A plan of PipeDream's optimizer. */
  public static PlanSheet of(PipeDreamPlanning planning, Context context) {
    List<Figure> head = steady("mini-batch", planning.seconds(), "PipeDream's optimizer", context);
    head.add(
        bound(planning.lowerBound().value(), planning.lowerBound().why() + certainty(planning)));
    List<Figure> why = new ArrayList<>();
    why.add(PlanSheet.fact("bound by", planning.binding()));
    planning
        .runnerUp()
        .ifPresent(rival ->
            why.add(
                PlanSheet.fact(
                    "runner-up",
                    "the outermost level's last stage on "
                        + Words.count(rival.lastStageDevices(), "device")
                        + ": "
                        + against(rival.seconds(), planning.seconds()))));
    why.add(
        PlanSheet.fact(
            "data parallel", against(planning.dataParallelSeconds(), planning.seconds())));
    return new PlanSheet(
        context.title,
        "pipeline without flushes: %s on %s, %s in flight, schedule pipedream"
            .formatted(
                Words.count(planning.stages().size(), "stage"),
                Words.count(planning.devices(), "device"),
                Words.count(planning.inFlight(), "mini-batch")),
        List.of(
            new Part.Figures(head),
            new Part.Rows("Stages", stages(planning)),
            new Part.Figures(why),
            planned(
                context,
                Rule.PIPEDREAM,
                planning.complete(),
                " over " + Words.count(planning.states(), "cut point"))));
  }

  private static String certainty(PipeDreamPlanning planning) {
    return planning.complete()
        ? "; the plan is the optimizer's best"
        : "; the search was stopped, the best takes up to "
            + Units.percent(planning.gap() / (1 + planning.gap()))
            + " less";
  }

  private static Table stages(PipeDreamPlanning planning) {
    List<Column> columns = StageRows.columns();
    columns.add(Column.text("replicas\nby level"));
    columns.add(Column.number("in\nflight"));
    columns.add(Column.number("compute\non one"));
    columns.add(Column.number("per mini-\nbatch"));
    List<StageRows.Stage> stages =
        planning.stages().stream().map(AsynchronousSheet::stage).toList();
    return new Table(columns, StageRows.of(stages, DEVICES));
  }

  private static StageRows.Stage stage(PipeDreamPlanning.Stage stage) {
    String replicas =
        stage.replicas().stream().map(String::valueOf).collect(Collectors.joining("×"));
    Cell compute = Cell.seconds(stage.computeSeconds());
    Cell each = Cell.seconds(stage.seconds());
    return new StageRows.Stage(
        stage.firstLayer(),
        stage.lastLayer(),
        stage.devices(),
        List.of(replicas, compute.text(), each.text()),
        List.of(Cell.of(replicas), Cell.of(Integer.toString(stage.inFlight())), compute, each));
  }

  /**
   * A plan of PipeDream-2BW's planner.
   *
   * @param capacityBytes of each device
   */
  public static PlanSheet of(
      PipeDream2bwPlanning planning, Candidate best, Context context, double capacityBytes) {
    List<Figure> head = steady("update", best.seconds(), "PipeDream-2BW's planner", context);
    head.add(bound(planning.lowerBound().value(), planning.lowerBound().why()));
    List<Figure> why = new ArrayList<>();
    why.add(PlanSheet.fact("bound by", best.binding()));
    planning
        .runnerUp()
        .ifPresent(rival ->
            why.add(
                PlanSheet.fact(
                    "runner-up", words(rival) + ": " + against(rival.seconds(), best.seconds()))));
    return new PlanSheet(
        context.title,
        "schedule pipedream-2bw: " + words(best),
        List.of(
            new Part.Figures(head),
            new Part.Rows("Stages", stages(best, capacityBytes)),
            new Part.Figures(why),
            planned(
                context,
                Rule.TWO_BUFFERS,
                planning.complete(),
                ", " + Words.count(planning.candidates().size(), "configuration") + " that fit")));
  }

  /** {@code 4 stages × 2 replicas, 8 micro-batches of 16 for each update}. */
  private static String words(Candidate plan) {
    return Words.count(plan.depth(), "stage")
        + " × "
        + Words.count(plan.width(), "replica")
        + ", "
        + Words.count(plan.microBatches(), "micro-batch")
        + " of "
        + plan.microBatch()
        + " for each update"
        + (plan.recompute() ? ", recomputing" : "");
  }

  private static Table stages(Candidate best, double capacityBytes) {
    List<Column> columns = StageRows.columns();
    columns.add(Column.number("in\nflight"));
    columns.add(Column.number("compute"));
    columns.add(Column.number("transfers"));
    columns.add(Column.number("sum of\ngradients"));
    columns.add(Column.number("memory"));
    List<StageRows.Stage> stages =
        best.stages().stream().map(stage -> stage(stage, capacityBytes)).toList();
    return new Table(columns, StageRows.of(stages, DEVICES));
  }

  private static StageRows.Stage stage(PipeDream2bwPlanning.Stage stage, double capacityBytes) {
    Cell compute = Cell.seconds(stage.computeSeconds());
    Cell transfers = Cell.seconds(stage.transferSeconds());
    Cell sums = Cell.seconds(stage.exchangeSeconds());
    return new StageRows.Stage(
        stage.firstLayer(),
        stage.lastLayer(),
        stage.devices(),
        List.of(compute.text(), transfers.text(), sums.text()),
        List.of(
            Cell.of(Integer.toString(stage.inFlight())),
            compute,
            transfers,
            sums,
            Cell.of(Units.percent(stage.memoryBytes() / capacityBytes))));
  }

  /** A plan as it runs once its pipeline is full. */
  public static PlanSheet of(Found found, List<Simulated> rows) {
    List<Figure> figures = new ArrayList<>();
    figures.add(
        new Figure(
            found.rule == Rule.PIPEDREAM ? "mini-batch" : "update",
            Units.seconds(found.seconds),
            "simulated, mean of " + Words.count(found.rounds, "round") + " in the steady state"));
    if (found.expected.isPresent()) {
      String planned = Words.planned(found.expected.getAsDouble(), found.seconds, "simulation");
      figures.add(
          PlanSheet.fact("planned", planned + (planned.contains(";") ? ": " + found.leftOut : "")));
    }
    figures.add(PlanSheet.idle(found.idleShare));
    List<Column> columns = StageRows.columns();
    columns.add(Column.number("in\nflight"));
    columns.add(Column.number("versions\nof weights"));
    columns.add(Column.number("peak"));
    columns.add(Column.number("of\nmemory"));
    List<StageRows.Stage> stages = rows.stream().map(AsynchronousSheet::stage).toList();
    return new PlanSheet(
        found.title,
        "pipeline without flushes: %s, schedule %s"
            .formatted(Words.count(rows.size(), "stage"), found.rule.schedule()),
        List.of(
            new Part.Figures(figures),
            new Part.Rows("Stages", new Table(columns, StageRows.of(stages, DEVICES)))));
  }

  private static StageRows.Stage stage(Simulated row) {
    boolean limited = row.capacityBytes < UNLIMITED;
    Cell peak = Cell.of(Units.binary(row.peakBytes, "B"));
    return new StageRows.Stage(
        row.stage.firstLayer(),
        row.stage.lastLayer(),
        row.stage.devices(),
        List.of(peak.text()),
        List.of(
            Cell.of(Integer.toString(row.stage.inFlight())),
            Cell.of(Integer.toString(row.versions)),
            peak,
            Cell.of(limited ? Units.percent(row.peakBytes / row.capacityBytes) : "—")));
  }

  /**
   * How long a plan takes, as the simulator runs it and by the formula of its planner, and why
   * these differ.
   *
   * @param what is counted: a mini-batch, or an update
   * @param objective seconds by the formula
   * @param planner whose formula it is
   */
  private static List<Figure> steady(
      String what, double objective, String planner, Context context) {
    List<Figure> figures = new ArrayList<>();
    String formula = "%s, which %s minimises".formatted(Units.seconds(objective), planner);
    if (context.steady.isPresent()) {
      SteadyFigures run = context.steady.get();
      figures.add(new Figure(what, Units.seconds(run.seconds()), "simulated, in the steady state"));
      boolean same = run.difference().equals("none");
      figures.add(
          PlanSheet.fact(
              "objective", formula + (same ? ", as simulated" : "; " + run.difference())));
      figures.add(PlanSheet.idle(run.idleShare()));
    } else {
      figures.add(PlanSheet.fact(what, formula + "; the steady state is too long to be simulated"));
    }
    double seconds = context.steady.map(SteadyFigures::seconds).orElse(objective);
    figures.add(
        new Figure(
            "speed-up",
            Numbers.times(context.oneDeviceSeconds / seconds),
            "over one device (%s)".formatted(Units.seconds(context.oneDeviceSeconds))));
    return figures;
  }

  private static Figure bound(double seconds, String why) {
    return new Figure("lower bound", Units.seconds(seconds), "of the objective: " + why);
  }

  private static String against(double seconds, double best) {
    return "%s by the same formula, %s"
        .formatted(Units.seconds(seconds), Numbers.change(seconds / best - 1));
  }

  private static Part planned(Context context, Rule rule, boolean exact, String searched) {
    return new Part.Figures(
        List.of(
            PlanSheet.fact(
                "planned",
                "in %s by %s; %s%s"
                    .formatted(
                        Units.seconds(context.planningSeconds),
                        rule.schedule(),
                        exact ? "exact" : "stopped",
                        searched)),
            PlanSheet.fact("times", context.provenance)));
  }
}
