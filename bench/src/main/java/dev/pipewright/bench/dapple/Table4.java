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
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** DAPPLE's table IV: what more warm-up (policy B over policy A) gains on config A. */
public final class Table4 implements Reproduction {
  private record Line(
      String model,
      String profile,
      int globalBatch,
      int[] sizes,
      String zooCut,
      String cut,
      double paper) {}

  private static final int[] HALVES = {8, 8};
  private static final List<Line> LINES =
      List.of(
          new Line("bert-48", Table5.BERT, 64, HALVES, "block-24", "layer_23", 1.0),
          new Line("xlnet-36", Table5.XLNET, 128, HALVES, "block-19", "Layer_18", 1.02),
          new Line("vgg-19", Table5.VGG, 1024, new int[] {14, 2}, "pool4", "MaxPool2d_4", 1.1),
          new Line("gnmt-16", "", 1024, HALVES, "decoder-2", "", 1.31));

  @Override
  public String name() {
    return "table4";
  }

  @Override
  public String summary() {
    return "DAPPLE, table IV: early backward scheduling by policies A and B.";
  }

  @Override
  public Report run(Reference reference) {
    Cluster cluster = Networks.cluster("dapple-a");
    Markdown table =
        new Markdown(
            "network", "times", "M × samples", "paper", "ours, same M", "ours, each its best M");
    List<String> names = new ArrayList<>();
    List<double[]> values = new ArrayList<>();
    for (Line line : LINES) {
      StageCosts zoo = Networks.zoo(line.model(), cluster, line.globalBatch());
      row(table, line, "shapes", zoo, line.zooCut(), names, values);
      if (!line.profile().isEmpty() && reference.has(line.profile())) {
        StageCosts measured = Networks.measured(reference, line.profile(), cluster);
        row(table, line, "measured", measured, line.cut(), names, values);
      }
    }
    Dots dots =
        new Dots("Throughput, policy B / policy A", Axis.linear("ratio"), names)
            .add("paper", values.stream().mapToDouble(v -> v[0]).toArray())
            .add("ours, same M", values.stream().mapToDouble(v -> v[1]).toArray())
            .add("ours, each its best M", values.stream().mapToDouble(v -> v[2]).toArray());
    return new Report("DAPPLE, table IV: policy B over policy A, config A")
        .paragraph(
            "Throughput of the plans of table V (for VGG-19, whose plan there is data parallelism, 14:2"
                + " of table VII before the fourth pool), simulated. The paper does not give the number of"
                + " micro-batches: M is policy A's best.")
        .table(table)
        .figure(new Figure("DAPPLE, table IV: what more warm-up gains", 720, 1).add(dots));
  }

  private static void row(
      Markdown table,
      Line line,
      String times,
      StageCosts costs,
      String layer,
      List<String> names,
      List<double[]> values) {
    GivenPlans plans = new GivenPlans(costs);
    int[] firsts = {0, GivenPlans.position(costs, layer)};
    Optional<Scored> a =
        plans.best(firsts, line.sizes(), line.globalBatch(), List.of(PipelinePolicy.A));
    Optional<Scored> b =
        plans.best(firsts, line.sizes(), line.globalBatch(), List.of(PipelinePolicy.B));
    if (a.isEmpty()) {
      table.row(line.model(), times, "does not fit", line.paper(), "–", "–");
      return;
    }
    int microBatches = a.get().plan().microBatches();
    int samples = a.get().plan().microBatch();
    double step = a.get().seconds();
    double same =
        plans
            .fitting(firsts, line.sizes(), microBatches, samples, PipelinePolicy.B)
            .map(one -> step / one.seconds())
            .orElse(Double.NaN);
    double best = b.map(one -> step / one.seconds()).orElse(Double.NaN);
    names.add(line.model() + ", " + times);
    values.add(new double[] {line.paper(), same, best});
    table.row(
        line.model(),
        times,
        microBatches + "×" + samples,
        Numbers.fixed(line.paper(), 2),
        Numbers.fixed(same, 2),
        Numbers.fixed(best, 2));
  }
}
