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
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** DAPPLE's table V: the best plan of six networks on three clusters of 16 devices. */
public final class Table5 implements Reproduction {
  public static final List<PipelinePolicy> POLICIES = List.of(PipelinePolicy.A, PipelinePolicy.B);

  /**
   * A line of the table.
   *
   * @param paper {@code DP}, {@code straight} or {@code P:Q}
   * @param split the paper's split position in its own words
   * @param zooCut the layer of the zoo's network before which that is
   * @param profileCut the same in the measured profile; empty where it has no such layer
   */
  private record Line(
      String model,
      String profile,
      int globalBatch,
      String cluster,
      String paper,
      String split,
      String zooCut,
      String profileCut) {}

  private record Row(
      Line line,
      boolean measured,
      Scored ours,
      Optional<Scored> theirs,
      Optional<Scored> otherCut) {
    /** Why the plans differ, in a sentence. */
    String reason() {
      String cut =
          otherCut
              .map(one ->
                  "; the same devices with the best cut: %s at %s"
                      .formatted(
                          dev.pipewright.units.Units.seconds(one.seconds()),
                          one.plan().stages().get(1).firstLayer()))
              .orElse("");
      return theirs.map(one -> Reasons.of(one, ours)).orElse("does not fit") + cut;
    }

    double ratio() {
      return theirs.map(one -> one.seconds() / ours.seconds()).orElse(Double.NaN);
    }
  }

  /** From here on it is worth asking whether the paper's cut is to blame. */
  private static final double CLOSE = 1.1;

  static final String BERT = "bert-48-pbs-2";
  static final String XLNET = "xlnet-36-pbs-1";
  static final String AMOEBA = "amoeba-36-pbs-1";
  static final String VGG = "vgg-19-pbs-32";
  static final String GNMT = "gnmt-16-pbs-64";

  private static final List<Line> LINES =
      List.of(
          new Line("resnet-50", "", 2048, "dapple-a", "DP", "", "", ""),
          new Line("resnet-50", "", 2048, "dapple-b", "DP", "", "", ""),
          new Line("resnet-50", "", 2048, "dapple-c", "DP", "", "", ""),
          new Line("vgg-19", VGG, 2048, "dapple-a", "DP", "", "", ""),
          new Line("vgg-19", VGG, 2048, "dapple-b", "DP", "", "", ""),
          new Line("vgg-19", VGG, 2048, "dapple-c", "15:1", "13:6", "conv5_2", "Conv2d_5_2"),
          new Line("gnmt-16", GNMT, 1024, "dapple-a", "8:8", "9:7", "decoder-2", ""),
          new Line("gnmt-16", GNMT, 1024, "dapple-b", "8:8", "9:7", "decoder-2", ""),
          new Line("gnmt-16", GNMT, 1024, "dapple-c", "straight", "", "", ""),
          new Line("bert-48", BERT, 64, "dapple-a", "8:8", "23:25", "block-24", "layer_23"),
          new Line("bert-48", BERT, 64, "dapple-b", "straight", "", "", ""),
          new Line("bert-48", BERT, 64, "dapple-c", "straight", "", "", ""),
          new Line("xlnet-36", XLNET, 128, "dapple-a", "8:8", "18:18", "block-19", "Layer_18"),
          new Line("xlnet-36", XLNET, 128, "dapple-b", "8:8", "18:18", "block-19", "Layer_18"),
          new Line("xlnet-36", XLNET, 128, "dapple-c", "straight", "", "", ""),
          new Line("amoebanet-36", AMOEBA, 128, "dapple-a", "8:8", "24:12", "cell-25", "cell_24"),
          new Line("amoebanet-36", AMOEBA, 128, "dapple-b", "11:5", "27:9", "cell-28", "cell_27"),
          new Line("amoebanet-36", AMOEBA, 128, "dapple-c", "11:5", "27:9", "cell-28", "cell_27"));

  @Override
  public String name() {
    return "table5";
  }

  @Override
  public String summary() {
    return "DAPPLE, table V: planned hybrids on three clusters.";
  }

  @Override
  public Report run(Reference reference) {
    Report report =
        new Report("DAPPLE, table V: planning results")
            .paragraph(
                "The paper's plan is built with its cut and its devices; micro-batches, warm-up and"
                    + " recomputation, which the paper does not give, are those that suit it best. Where"
                    + " it names no cut (straight), the best cuts are taken. Both plans are simulated with"
                    + " the same stage times. Plans read: devices by stage, first layers of the later"
                    + " stages, micro-batches × their samples; RC: some stage recomputes.");
    List<Row> zoo = rows(reference, false);
    report.heading("Networks of the zoo (times derived from shapes)").table(table(zoo));
    List<Row> all = new ArrayList<>(zoo);
    if (reference.present()) {
      List<Row> measured = rows(reference, true);
      report
          .heading("Profiles that DAPPLE's authors measured")
          .paragraph(
              "These state one size per layer, so a layer is taken to keep its output and no more:"
                  + " memory hardly binds.")
          .table(table(measured));
      all.addAll(measured);
    } else {
      report.paragraph("No reference profiles in " + reference.folder() + ": left out.");
    }
    return report.figure(figure(all));
  }

  private static List<Row> rows(Reference reference, boolean measured) {
    List<Row> rows = new ArrayList<>();
    for (Line line : LINES) {
      if (!measured || reference.has(line.profile())) {
        rows.add(row(reference, line, measured));
      }
    }
    return rows;
  }

  private static Row row(Reference reference, Line line, boolean measured) {
    Cluster cluster = Networks.cluster(line.cluster());
    StageCosts costs =
        measured
            ? Networks.measured(reference, line.profile(), cluster)
            : Networks.zoo(line.model(), cluster, line.globalBatch());
    Scored ours = planned(costs, line.globalBatch(), Shape.ANY).orElseThrow();
    Optional<Scored> theirs = theirs(costs, line, measured);
    boolean given = !line.split().isEmpty() && (!measured || !line.profileCut().isEmpty());
    boolean far = theirs.isEmpty() || theirs.get().seconds() > CLOSE * ours.seconds();
    Optional<Scored> otherCut =
        given && far
            ? new GivenPlans(costs).bestCut(sizes(line), line.globalBatch(), POLICIES)
            : Optional.empty();
    return new Row(line, measured, ours, theirs, otherCut);
  }

  /** The best plan of a shape, by the default cost model and the simulator. */
  static Optional<Scored> planned(StageCosts costs, int globalBatch, Shape shape) {
    Request request =
        new Request(
            globalBatch,
            OptionalInt.empty(),
            POLICIES,
            Recomputation.WHERE_NEEDED,
            CostModel.PIPEWRIGHT,
            shape);
    Planning planning = Networks.plan(costs, request);
    return planning
        .best()
        .map(best -> new Scored(best.plan(), best.simulated().orElse(best.estimate())));
  }

  private static Optional<Scored> theirs(StageCosts costs, Line line, boolean measured) {
    return switch (line.paper()) {
      case "DP" -> planned(costs, line.globalBatch(), Shape.DATA_PARALLEL);
      case "straight" -> planned(costs, line.globalBatch(), Shape.STRAIGHT);
      default -> twoStages(costs, line, measured ? line.profileCut() : line.zooCut());
    };
  }

  /** Two stages with the paper's cut, or the best one where the network has no such layer. */
  private static Optional<Scored> twoStages(StageCosts costs, Line line, String layer) {
    GivenPlans plans = new GivenPlans(costs);
    int cut = layer.isEmpty() ? -1 : GivenPlans.position(costs, layer);
    return cut < 0
        ? plans.bestCut(sizes(line), line.globalBatch(), POLICIES)
        : plans.best(new int[] {0, cut}, sizes(line), line.globalBatch(), POLICIES);
  }

  /** Devices by stage of a plan that the paper writes as {@code P:Q}. */
  private static int[] sizes(Line line) {
    List<String> words = List.of(line.paper().split(":", -1));
    return words.stream().mapToInt(Integer::parseInt).toArray();
  }

  private static Markdown table(List<Row> rows) {
    Markdown table =
        new Markdown(
            "network (batch)",
            "on",
            "paper",
            "paper's plan, s",
            "ours, s",
            "ours",
            "the paper's plan");
    for (Row row : rows) {
      Line line = row.line();
      table.row(
          line.model() + " (" + line.globalBatch() + ")",
          line.cluster().replace("dapple-", "").toUpperCase(java.util.Locale.ROOT),
          line.paper() + (line.split().isEmpty() ? "" : ", " + line.split()),
          Numbers.fixed(row.theirs().map(Scored::seconds).orElse(Double.NaN), 4),
          Numbers.fixed(row.ours().seconds(), 4),
          Plans.words(row.ours().plan()),
          row.reason());
    }
    return table;
  }

  private static Figure figure(List<Row> rows) {
    List<String> names =
        rows.stream()
            .filter(row -> !row.measured())
            .map(row -> row.line().model() + " on " + row.line().cluster())
            .toList();
    double[] zoo = new double[names.size()];
    double[] measured = new double[names.size()];
    Arrays.fill(measured, Double.NaN);
    for (int i = 0; i < LINES.size(); i++) {
      for (Row row : rows) {
        if (row.line().equals(LINES.get(i))) {
          (row.measured() ? measured : zoo)[i] = row.ratio();
        }
      }
    }
    Dots dots =
        new Dots("Simulated step of the paper's plan / ours", Axis.linear("ratio"), names)
            .add("zoo", zoo)
            .add("measured profile", measured)
            .limit(1, "as fast as ours");
    return new Figure("DAPPLE, table V: the paper's plans beside ours", 820, 1).add(dots);
  }
}
