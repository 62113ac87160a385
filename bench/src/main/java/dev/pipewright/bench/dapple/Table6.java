package dev.pipewright.bench.dapple;

import dev.pipewright.bench.dapple.GivenPlans.Scored;
import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.plot.Lines;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/** DAPPLE's table VI: GPipe and early backward scheduling on two stages of BERT-48. */
public final class Table6 implements Reproduction {
  private static final int MICRO_BATCH = 2;
  private static final int[] MICRO_BATCHES = {2, 3, 5, 8, 16};
  private static final String[] NAMES = {"GPipe", "GPipe + RC", "DAPPLE", "DAPPLE + RC"};

  /** Throughput and average peak in GB by the paper; 0 where it ran out of memory. */
  private static final Map<String, double[]> PAPER =
      Map.ofEntries(
          Map.entry("GPipe 2", new double[] {5.10, 12.1}),
          Map.entry("GPipe 3", new double[] {0, 0}),
          Map.entry("GPipe + RC 2", new double[] {4.00, 9.9}),
          Map.entry("GPipe + RC 5", new double[] {5.53, 13.2}),
          Map.entry("GPipe + RC 8", new double[] {0, 0}),
          Map.entry("DAPPLE 2", new double[] {5.10, 10.6}),
          Map.entry("DAPPLE 8", new double[] {7.60, 10.6}),
          Map.entry("DAPPLE 16", new double[] {8.18, 10.6}),
          Map.entry("DAPPLE + RC 2", new double[] {4.24, 8.5}),
          Map.entry("DAPPLE + RC 8", new double[] {6.23, 8.5}),
          Map.entry("DAPPLE + RC 16", new double[] {6.77, 8.5}));

  /** One cell: both networks under one schedule. */
  private record Cell(double throughput, double peak, boolean fits, double measured) {}

  @Override
  public String name() {
    return "table6";
  }

  @Override
  public String summary() {
    return "DAPPLE, table VI: DAPPLE and GPipe on BERT-48.";
  }

  @Override
  public Report run(Reference reference) {
    Cluster cluster = Networks.cluster("dapple-b:2");
    StageCosts zoo = Networks.zoo("bert-48", cluster, 32);
    Optional<StageCosts> measured =
        reference.present()
            ? Optional.of(Networks.measured(reference, Table5.BERT, cluster))
            : Optional.empty();
    Markdown table =
        new Markdown(
            "schedule",
            "M",
            "paper, samples/s",
            "ours",
            "ours, measured times",
            "paper, GB",
            "ours, GB");
    Lines throughput = panel("Throughput", "samples/s");
    Lines memory = panel("Average peak memory", "GB");
    for (String name : NAMES) {
      double[] rates = new double[MICRO_BATCHES.length];
      double[] peaks = new double[MICRO_BATCHES.length];
      for (int i = 0; i < MICRO_BATCHES.length; i++) {
        Cell cell = cell(zoo, measured, name, MICRO_BATCHES[i]);
        rates[i] = cell.fits() ? cell.throughput() : Double.NaN;
        peaks[i] = cell.fits() ? cell.peak() : Double.NaN;
        row(table, name, MICRO_BATCHES[i], cell);
      }
      throughput.add(name, xs(), rates);
      memory.add(name, xs(), peaks);
    }
    return new Report("DAPPLE, table VI: GPipe and DAPPLE on BERT-48, two stages, config B")
        .paragraph(
            "Micro-batches of 2 samples, 24 blocks to a stage. Simulated; throughput with times derived"
                + " from shapes, and with the times that DAPPLE's authors measured (these have no memory"
                + " sizes). Memory: average of the two devices' peaks, in 10⁹ bytes, of weights,"
                + " gradients, optimizer and activations. RC: only stage inputs are kept. The paper's"
                + " figures include what the framework allocates. OOM: a device of 16 GiB does not do.")
        .table(table)
        .figure(
            new Figure(
                    "BERT-48 on two devices: GPipe and DAPPLE (missing points: out of memory)",
                    980,
                    2)
                .add(throughput)
                .add(memory));
  }

  private static Lines panel(String title, String unit) {
    return new Lines(
        title,
        Axis.fromZero("micro-batches per step").marked(2, 3, 5, 8, 16),
        Axis.fromZero(unit),
        320);
  }

  private static double[] xs() {
    return Arrays.stream(MICRO_BATCHES).asDoubleStream().toArray();
  }

  private static Cell cell(StageCosts zoo, Optional<StageCosts> measured, String name, int count) {
    Scored scored = scored(zoo, GivenPlans.position(zoo, "block-25"), name, count);
    double average =
        scored.simulated().stages().stream()
            .mapToDouble(stage -> stage.memory().peakBytes())
            .average()
            .orElseThrow();
    double samples = (double) count * MICRO_BATCH;
    double other =
        measured
            .map(costs ->
                samples
                    / scored(costs, GivenPlans.position(costs, "layer_24"), name, count).seconds())
            .orElse(Double.NaN);
    return new Cell(samples / scored.seconds(), average / 1e9, scored.simulated().fits(), other);
  }

  private static Scored scored(StageCosts costs, int cut, String name, int count) {
    GivenPlans plans = new GivenPlans(costs);
    Recompute how = name.endsWith("RC") ? Recompute.STAGE_INPUT : Recompute.NONE;
    PipelinePolicy policy = name.startsWith("GPipe") ? PipelinePolicy.ALL : PipelinePolicy.A;
    PipelinePlan plan =
        plans.plan(
            new int[] {0, cut},
            new int[] {1, 1},
            count,
            MICRO_BATCH,
            policy,
            new Recompute[] {how, how});
    return plans.scored(plan);
  }

  private static void row(Markdown table, String name, int count, Cell cell) {
    double[] paper = PAPER.getOrDefault(name + " " + count, new double[] {Double.NaN, Double.NaN});
    boolean failed = paper[0] == 0;
    table.row(
        name,
        count,
        failed ? "OOM" : Numbers.fixed(paper[0], 2),
        cell.fits() ? Numbers.fixed(cell.throughput(), 2) : "OOM",
        Numbers.fixed(cell.measured(), 2),
        failed ? "OOM" : Numbers.fixed(paper[1], 1),
        Numbers.fixed(cell.peak(), 1) + (cell.fits() ? "" : " OOM"));
  }
}
