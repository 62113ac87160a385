package dev.pipewright.bench.planners;

import dev.pipewright.api.Planned;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.AutoPlanner;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Request;
import dev.pipewright.units.Bytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How far the default planner's plans are above its lower bounds: measured networks on up to 64
 * devices, dense transformers of the zoo on up to 1,024.
 */
public final class Gaps implements Reproduction {
  private static final double BAR = 0.10;
  private static final List<String> MEASURED_ON =
      List.of(
          "dapple-a:1x8",
          "dapple-a:2x8",
          "dapple-a:8x8",
          "dapple-b:8",
          "dapple-b:16",
          "dapple-b:64",
          "dapple-c:8",
          "dapple-c:16",
          "dapple-c:64");
  private static final List<String> DENSE =
      List.of(
          "bert-large",
          "gpt-2-medium",
          "gpt-2-xl",
          "qwen3-1.7b",
          "qwen3-8b",
          "qwen3-32b",
          "llama2-7b",
          "llama2-13b",
          "llama2-70b",
          "llama3-8b",
          "llama3-70b",
          "llama3-405b",
          "megatron-22b",
          "gpt3-175b",
          "turing-530b",
          "megatron-1t");
  private static final int[] MACHINES = {1, 2, 8, 32, 128};
  private static final int[] SAMPLES_PER_DEVICE = {4, 16};
  private static final int MOST_SAMPLES = 4096;

  /** A plan and its bound; without a plan, NaN. */
  private record Row(
      String network, String cluster, int globalBatch, double step, double bound, String why) {
    static Row of(String network, String cluster, int globalBatch, Planning planning) {
      double step = planning.best().map(Planning.Candidate::seconds).orElse(Double.NaN);
      Planning.LowerBound bound = planning.lowerBound();
      return new Row(network, cluster, globalBatch, step, bound.value(), bound.why());
    }

    double gap() {
      return step / bound - 1;
    }

    boolean fits() {
      return Double.isFinite(step);
    }
  }

  @Override
  public String name() {
    return "gaps";
  }

  @Override
  public String summary() {
    return "How far plans are above their lower bounds, up to 1,024 devices.";
  }

  @Override
  public List<String> needs() {
    return List.of("dapple", "pipedream");
  }

  @Override
  public Report run(Reference reference) {
    Report report = new Report("Gaps").paragraph(setting());
    report.heading("Measured networks, devices with 16 GiB");
    addTo(report, measured(reference));
    report.heading("Dense transformers of the zoo, H100");
    addTo(report, zoo());
    return report;
  }

  private static String setting() {
    return "How far the default planner's plans are above its lower bounds. The step is the simulated"
        + " one. A small gap proves the plan; a large one says that the plan may be bad or the bound"
        + " weak. Measured networks have as many samples for each device as their authors chose,"
        + " on DAPPLE's clusters A (8 V100 with NVLink a machine, 25 Gbit/s between machines), B"
        + " (25 Gbit/s between all devices) and C (10 Gbit/s). Transformers have 4 and 16 samples"
        + " for each device and at most %d. –: nothing fits.".formatted(MOST_SAMPLES);
  }

  private static void addTo(Report report, List<Row> rows) {
    double[] gaps = rows.stream().filter(Row::fits).mapToDouble(Row::gap).sorted().toArray();
    long within = Arrays.stream(gaps).filter(gap -> gap <= BAR).count();
    report.paragraph(
        "%d of %d problems have a plan; %d of these are within 10 %% of their bounds; median %s, worst %s."
            .formatted(
                gaps.length,
                rows.size(),
                within,
                Numbers.percent(PlannersSideBySide.median(gaps)),
                Numbers.percent(gaps[gaps.length - 1])));
    Markdown table =
        new Markdown("network", "cluster", "samples", "step, s", "bound, s", "gap", "bound");
    for (Row row : rows) {
      table.row(
          row.network(),
          row.cluster(),
          row.globalBatch(),
          Numbers.seconds(row.step()),
          Numbers.seconds(row.bound()),
          row.fits() ? Numbers.percent(row.gap()) : "–",
          row.why());
    }
    report.table(table);
  }

  private static List<Row> measured(Reference reference) {
    List<Row> rows = new ArrayList<>();
    for (ReferenceNetwork network : ReferenceNetwork.ALL) {
      for (String name : MEASURED_ON) {
        Cluster cluster = Networks.cluster(name).withMemory(Bytes.gib(16));
        StageCosts costs = network.costs(reference, cluster);
        int globalBatch = network.globalBatch() * cluster.size() / 16;
        Planning planning =
            AutoPlanner.plan(
                costs, Request.of(globalBatch), Networks.simulator(costs), () -> false);
        rows.add(Row.of(network.name(), name, globalBatch, planning));
      }
    }
    return rows;
  }

  private static List<Row> zoo() {
    List<Row> rows = new ArrayList<>();
    for (String network : DENSE) {
      for (int machines : MACHINES) {
        for (int each : SAMPLES_PER_DEVICE) {
          int globalBatch = 8 * machines * each;
          if (globalBatch <= MOST_SAMPLES) {
            String cluster = "h100:" + machines + "x8";
            Planned planned = Planners.plan(Problem.of(network, cluster, globalBatch));
            rows.add(Row.of(network, cluster, globalBatch, planned.planning()));
          }
        }
      }
    }
    return rows;
  }
}
