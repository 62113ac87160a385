package dev.pipewright.bench.dapple;

import dev.pipewright.bench.dapple.GivenPlans.Scored;
import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Dots;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Request.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** DAPPLE's table VII: its plans and PipeDream's on two machines of eight devices, beside ours. */
public final class Table7 implements Reproduction {
  /**
   * A line of the table.
   *
   * @param profile a measured profile, or a network of the zoo where none was published
   * @param cut the first state of DAPPLE's second stage
   * @param split how it divides the devices
   * @param firsts the first states of PipeDream's stages; empty for one stage per device
   */
  private record Line(
      String name,
      String profile,
      int globalBatch,
      int cut,
      int[] split,
      int[] firsts,
      int[] sizes) {}

  private record Row(
      Line line,
      Scored ours,
      Optional<Scored> dapple,
      Optional<Scored> pipedream,
      Optional<Scored> data,
      double plainSeconds) {}

  private static final int[] STRAIGHT = {};
  private static final int[] HALVES = {8, 8};

  private static final List<Line> LINES =
      List.of(
          new Line(
              "VGG-19",
              Table5.VGG,
              1024,
              16,
              new int[] {14, 2},
              new int[] {0, 11, 17, 19},
              new int[] {8, 6, 1, 1}),
          new Line("AmoebaNet-36", Table5.AMOEBA, 128, 30, HALVES, STRAIGHT, STRAIGHT),
          new Line(
              "BERT-large",
              "bert-24",
              128,
              13,
              HALVES,
              new int[] {0, 4, 13, 16, 19, 22},
              new int[] {2, 6, 2, 2, 2, 2}),
          new Line("XLNet-36", Table5.XLNET, 128, 22, HALVES, STRAIGHT, STRAIGHT));

  @Override
  public String name() {
    return "table7";
  }

  @Override
  public String summary() {
    return "DAPPLE, table VII: plans of DAPPLE and PipeDream.";
  }

  @Override
  public List<String> needs() {
    return List.of("dapple");
  }

  @Override
  public Report run(Reference reference) {
    Cluster cluster = Networks.cluster("dapple-a");
    List<Row> rows = new ArrayList<>();
    for (Line line : LINES) {
      boolean measured = reference.has(line.profile());
      StageCosts costs =
          measured
              ? Networks.measured(reference, line.profile(), cluster)
              : Networks.zoo(line.profile(), cluster, line.globalBatch());
      rows.add(row(line, costs));
    }
    return new Report("DAPPLE, table VII: strategies of DAPPLE and PipeDream on 2×8 devices")
        .paragraph(
            "Each plan with the micro-batches, the warm-up and the recomputation that suit it best,"
                + " simulated with the same stage times: measured profiles, for BERT-large the zoo's"
                + " (24 blocks; its profile was not published). A straight plan has the best cuts there"
                + " are. Speed-ups are over the best data parallelism, and over data parallelism on all devices that reduces gradients after the last backward pass.")
        .table(table(rows))
        .figure(figure(rows));
  }

  private static Row row(Line line, StageCosts costs) {
    GivenPlans plans = new GivenPlans(costs);
    int batch = line.globalBatch();
    Optional<Scored> dapple =
        plans.best(new int[] {0, line.cut()}, line.split(), batch, Table5.POLICIES);
    Optional<Scored> pipedream =
        line.firsts().length == 0
            ? Table5.planned(costs, batch, Shape.STRAIGHT)
            : plans.best(line.firsts(), line.sizes(), batch, Table5.POLICIES);
    Scored ours = Table5.planned(costs, batch, Shape.ANY).orElseThrow();
    Optional<Scored> data = Table5.planned(costs, batch, Shape.DATA_PARALLEL);
    return new Row(
        line,
        ours,
        dapple,
        pipedream,
        data,
        plans.dataParallel(batch, false).map(Scored::seconds).orElse(Double.NaN));
  }

  private static Markdown table(List<Row> rows) {
    Markdown table =
        new Markdown(
            "network (batch)",
            "plan of",
            "step, s",
            "over DP overlapped",
            "over DP",
            "plan",
            "beside ours");
    for (Row row : rows) {
      String name = row.line().name() + " (" + row.line().globalBatch() + ")";
      line(table, name, "DAPPLE", row.dapple(), row);
      line(table, "", "PipeDream", row.pipedream(), row);
      line(table, "", "data parallelism", row.data(), row);
      line(table, "", "ours", Optional.of(row.ours()), row);
    }
    return table;
  }

  private static void line(
      Markdown table, String name, String whose, Optional<Scored> plan, Row row) {
    if (plan.isEmpty()) {
      table.row(name, whose, "–", "–", "–", "–", "does not fit");
      return;
    }
    boolean ours = plan.get().equals(row.ours());
    table.row(
        name,
        whose,
        Numbers.fixed(plan.get().seconds(), 4),
        Numbers.fixed(speedUp(plan, row), 2),
        Numbers.fixed(row.plainSeconds() / plan.get().seconds(), 2),
        Plans.words(plan.get().plan()),
        ours ? "" : Reasons.of(plan.get(), row.ours()));
  }

  private static double speedUp(Optional<Scored> plan, Row row) {
    return plan.isEmpty() || row.data().isEmpty()
        ? Double.NaN
        : row.data().get().seconds() / plan.get().seconds();
  }

  private static Figure figure(List<Row> rows) {
    List<String> names = rows.stream().map(row -> row.line().name()).toList();
    Dots dots =
        new Dots("Speed-up over data parallelism, 2×8 devices", Axis.fromZero("speed-up"), names)
            .add(
                "ours", rows.stream().mapToDouble(r -> speedUp(Optional.of(r.ours()), r)).toArray())
            .add("DAPPLE", rows.stream().mapToDouble(r -> speedUp(r.dapple(), r)).toArray())
            .add("PipeDream", rows.stream().mapToDouble(r -> speedUp(r.pipedream(), r)).toArray())
            .limit(1, "data parallelism");
    return new Figure("DAPPLE, table VII: plans under one simulator", 760, 1).add(dots);
  }
}
