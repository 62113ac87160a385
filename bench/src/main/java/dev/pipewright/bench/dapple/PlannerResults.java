package dev.pipewright.bench.dapple;

import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Dots;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.RecordedRun;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.bench.reproduction.Timing;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.ToDoubleFunction;

/** The 22 recorded runs of the planner of DAPPLE's authors beside ours, on their own terms. */
public final class PlannerResults implements Reproduction {
  private static final List<PipelinePolicy> POLICIES = List.of(PipelinePolicy.A, PipelinePolicy.B);

  /** What one run came to: plans, and times of ours for four tasks. */
  private record Row(
      RecordedRun run,
      double theirScore,
      Planning ours,
      Timing same,
      Timing usual,
      Timing open,
      Timing smaller,
      double smallerScore) {
    double ratio() {
      return score() / run.latency();
    }

    double smallerRatio() {
      return smallerScore / run.latency();
    }

    double score() {
      return ours.best().orElseThrow().estimate().stepSeconds();
    }

    PipelinePlan plan() {
      return ours.best().orElseThrow().plan();
    }
  }

  @Override
  public String name() {
    return "planner-results";
  }

  @Override
  public String summary() {
    return "Plans of the DAPPLE authors' planner, scored here, next to ours.";
  }

  @Override
  public List<String> needs() {
    return List.of("dapple");
  }

  @Override
  public Report run(Reference reference) {
    List<Row> rows = new ArrayList<>();
    for (RecordedRun run : reference.runs()) {
      rows.add(row(reference, run));
    }
    Report report = new Report("The planner of DAPPLE's authors and ours, on 22 recorded runs");
    report.heading("Plans").paragraph(plansSummary(rows)).table(plans(rows));
    report.heading("Planning time").paragraph(timesSummary(rows)).table(times(rows));
    return report.figure(figure(rows));
  }

  private static Row row(Reference reference, RecordedRun run) {
    StageCosts costs = Networks.measured(reference, run.profile(), Networks.cluster(run.cluster()));
    Request same = request(run, CostModel.DAPPLE_REPO, true, Shape.ANY);
    Request usual = request(run, CostModel.PIPEWRIGHT, true, Shape.ANY);
    Request open = request(run, CostModel.PIPEWRIGHT, false, Shape.ANY);
    return new Row(
        run,
        CostModel.DAPPLE_REPO.oracle(costs).assess(run.plan()).stepSeconds(),
        Networks.plan(costs, same),
        time(costs, same),
        time(costs, usual),
        time(costs, open),
        Timing.of(() -> smaller(costs, run)),
        smaller(costs, run));
  }

  private static Request request(RecordedRun run, CostModel model, boolean given, Shape shape) {
    OptionalInt microBatch = given ? OptionalInt.of(run.microBatch()) : OptionalInt.empty();
    return new Request(
        run.globalBatch(), microBatch, POLICIES, Recomputation.WHERE_NEEDED, model, shape);
  }

  /** Everything that planning prepares from a priced network is part of the time. */
  private static Timing time(StageCosts costs, Request request) {
    return Timing.of(() -> {
      StageCosts fresh = new StageCosts(costs.workload());
      Networks.plan(fresh, request);
    });
  }

  /** The space that their program searches: one stage, one device per stage, two stages. */
  private static double smaller(StageCosts costs, RecordedRun run) {
    StageCosts fresh = new StageCosts(costs.workload());
    double best = Double.POSITIVE_INFINITY;
    for (Shape shape : List.of(Shape.TWO_STAGES, Shape.STRAIGHT)) {
      Planning one = Networks.plan(fresh, request(run, CostModel.DAPPLE_REPO, true, shape));
      best = Math.min(best, one.best().orElseThrow().estimate().stepSeconds());
    }
    return best;
  }

  private static String plansSummary(List<Row> rows) {
    long better = rows.stream().filter(row -> row.ratio() < 1 - 1e-9).count();
    long worse = rows.stream().filter(row -> row.ratio() > 1 + 1e-9).count();
    double apart =
        rows.stream()
            .mapToDouble(row -> Math.abs(row.theirScore() / row.run().latency() - 1))
            .max()
            .orElse(0);
    double least = rows.stream().mapToDouble(Row::ratio).min().orElse(1);
    return ("Cost model `dapple-repo`, the same micro-batch. Ours is strictly better on %d of %d runs"
            + " (at best by %s) and worse on %d. Their plans scored by us differ from their scores by"
            + " at most %.1e (relative). Their smaller space alone, searched by us, gives their score on"
            + " %d runs and a better one on %d.")
        .formatted(
            better,
            rows.size(),
            Numbers.percent(1 - least),
            worse,
            apart,
            rows.stream().filter(row -> Math.abs(row.smallerRatio() - 1) <= 1e-9).count(),
            rows.stream().filter(row -> row.smallerRatio() < 1 - 1e-9).count());
  }

  private static Markdown plans(List<Row> rows) {
    Markdown table =
        new Markdown(
            "run", "theirs, s", "our score of it, apart", "ours, s", "ratio", "theirs", "our plan");
    for (Row row : rows) {
      table.row(
          row.run().label(),
          Numbers.fixed(row.run().latency(), 6),
          "%.0e".formatted(Math.abs(row.theirScore() / row.run().latency() - 1)),
          Numbers.fixed(row.score(), 6),
          Numbers.fixed(row.ratio(), 4),
          Plans.words(row.run().plan()),
          row.ratio() < 1 - 1e-9 ? Plans.words(row.plan()) : "as good");
    }
    return table;
  }

  private static String timesSummary(List<Row> rows) {
    return ("Median of %d repetitions after warm-up, one thread, in milliseconds of wall time; `theirs`"
            + " is their program's recorded median. Worst and median ratio to theirs: same task %s (bar"
            + " 0.2); default cost model %s; micro-batch open %s; their smaller space alone %s (bar"
            + " 0.05). By processor time of the thread instead: %s, %s, %s, %s.")
        .formatted(
            Timing.REPETITIONS,
            ratios(rows, row -> row.same().wall()),
            ratios(rows, row -> row.usual().wall()),
            ratios(rows, row -> row.open().wall()),
            ratios(rows, row -> row.smaller().wall()),
            ratios(rows, row -> row.same().cpu()),
            ratios(rows, row -> row.usual().cpu()),
            ratios(rows, row -> row.open().cpu()),
            ratios(rows, row -> row.smaller().cpu()));
  }

  private static String ratios(List<Row> rows, ToDoubleFunction<Row> seconds) {
    double[] ratios =
        rows.stream()
            .mapToDouble(row -> seconds.applyAsDouble(row) / row.run().wall())
            .sorted()
            .toArray();
    return Numbers.fixed(ratios[ratios.length - 1], 3)
        + " / "
        + Numbers.fixed(ratios[ratios.length / 2], 3);
  }

  private static Markdown times(List<Row> rows) {
    Markdown table =
        new Markdown(
            "run",
            "theirs",
            "same task",
            "ratio",
            "default model",
            "micro-batch open",
            "smaller space",
            "ratio ");
    for (Row row : rows) {
      table.row(
          row.run().label(),
          Numbers.milliseconds(row.run().wall()),
          Numbers.milliseconds(row.same().wall()),
          Numbers.fixed(row.same().wall() / row.run().wall(), 3),
          Numbers.milliseconds(row.usual().wall()),
          Numbers.milliseconds(row.open().wall()),
          Numbers.milliseconds(row.smaller().wall()),
          Numbers.fixed(row.smaller().wall() / row.run().wall(), 3));
    }
    return table;
  }

  private static Figure figure(List<Row> rows) {
    List<String> names = rows.stream().map(row -> row.run().label()).toList();
    Dots latency =
        new Dots("Step time of our plan / theirs", Axis.linear("ratio"), names)
            .add("same task", values(rows, Row::ratio))
            .limit(1, "as good");
    Dots times =
        new Dots("Planning time / theirs", Axis.logarithmic("ratio"), names)
            .add("same task", values(rows, row -> row.same().wall() / row.run().wall()))
            .add("default cost model", values(rows, row -> row.usual().wall() / row.run().wall()))
            .add("micro-batch open", values(rows, row -> row.open().wall() / row.run().wall()))
            .add("smaller space", values(rows, row -> row.smaller().wall() / row.run().wall()))
            .limit(0.2, "1/5");
    return new Figure("22 recorded runs of the planner of DAPPLE's authors", 1060, 2)
        .add(latency)
        .add(times);
  }

  private static double[] values(List<Row> rows, ToDoubleFunction<Row> value) {
    return rows.stream().mapToDouble(value).toArray();
  }
}
