package dev.pipewright.bench.planners;

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
import dev.pipewright.planner.AutoPlanner;
import dev.pipewright.units.Bytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Plans of all planners for all measured networks on DAPPLE's three clusters of 16 devices, run by
 * the same simulator.
 */
public final class PlannersSideBySide implements Reproduction {
  private static final List<String> CLUSTERS = List.of("dapple-a", "dapple-b", "dapple-c");
  private static final int[] GIBIBYTES = {8, 16, 32};
  private static final int USUAL = 16;
  private static final List<String> DRAWN =
      List.of(
          AutoPlanner.NAME,
          Contender.OURS,
          PipeDreamStages.NAME,
          "2bw",
          "inter-operator",
          "torchgpipe",
          "uniform layers",
          "data"); // there are eight symbols

  /** One network on one cluster with one amount of memory. */
  private record Row(
      String network, int globalBatch, String cluster, int gib, List<Entry> entries) {
    double best() {
      return entries.stream()
          .mapToDouble(Entry::seconds)
          .filter(Double::isFinite)
          .min()
          .orElse(Double.NaN);
    }

    Entry of(String contender) {
      return entries.get(index(contender));
    }

    double ratio(String contender) {
      return of(contender).seconds() / best();
    }
  }

  static String letter(String cluster) {
    String name = cluster.replace("dapple-", "");
    return name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1).replace(':', ' ');
  }

  private static int index(String contender) {
    List<String> names = Contender.ALL.stream().map(Contender::name).toList();
    return names.indexOf(contender);
  }

  @Override
  public String name() {
    return "planners";
  }

  @Override
  public String summary() {
    return "Plans of 14 planners for twelve measured networks in one simulator.";
  }

  @Override
  public List<String> needs() {
    return List.of("dapple", "pipedream");
  }

  @Override
  public Report run(Reference reference) {
    List<Row> rows = new ArrayList<>();
    for (ReferenceNetwork network : ReferenceNetwork.ALL) {
      for (String name : CLUSTERS) {
        if (network.in(reference)) {
          for (int gib : GIBIBYTES) {
            rows.add(row(reference, network, name, gib));
          }
        }
      }
    }
    Report report = new Report("Planners side by side").paragraph(setting());
    for (int gib : GIBIBYTES) {
      report.heading("Devices with %d GiB: step time over the best".formatted(gib));
      report.table(table(rows, gib));
    }
    report.heading("All of them: how far behind the best").paragraph(summaryWords());
    report.table(summary(rows));
    List<Match> matches = new ArrayList<>();
    for (Row row : rows) {
      matches.add(
          new Match(
              row.network + " (" + row.globalBatch + ")",
              row.cluster,
              row.gib,
              row.of(PipeDreamStages.NAME),
              row.of(Contender.OURS)));
    }
    PipeDreamClaim.addTo(report, reference, matches);
    return report.figure(figure(rows));
  }

  private static Row row(Reference reference, ReferenceNetwork network, String name, int gib) {
    Cluster cluster = Networks.cluster(name).withMemory(Bytes.gib(gib));
    PlannedNetwork planned =
        new PlannedNetwork(
            network.costs(reference, cluster), network.globalBatch(), network.miniBatch());
    List<Entry> entries = new ArrayList<>();
    for (Contender contender : Contender.ALL) {
      entries.add(Entry.of(contender, planned));
    }
    return new Row(network.name(), network.globalBatch(), name, gib, entries);
  }

  private static String setting() {
    return "Twelve networks that DAPPLE's and PipeDream's authors measured on V100s, on DAPPLE's clusters"
        + " of 16 devices (A: 2×8, NVLink and 25 Gbit/s; B: 16×1, 25 Gbit/s; C: 16×1, 10 Gbit/s)."
        + " Every plan's step, one global batch under synchronous 1F1B (`dapple gpipe`: under GPipe;"
        + " `auto`: under its own schedule), is run"
        + " by the same simulator with the same stage times. Planners that answer with stages and"
        + " devices get the micro-batches, the warm-up (A or B) and, in stages that do not fit"
        + " otherwise, the recomputation with which these are fastest; so do those made for"
        + " asynchronous training. The profiles state one batch: a part of it takes a part of the"
        + " time, which is kind to small micro-batches, and a layer keeps its output and no more."
        + " –: what the planner proposes does not fit, whatever the micro-batches, or it proposes"
        + " nothing.\n\n"
        + "`auto`: this project's default planner; `dapple`: its planner of hybrids with 1F1B; `straight copies`, `data`, `dapple gpipe`: the"
        + " same for copies of a pipeline with one device per stage, for data parallelism, for GPipe's"
        + " schedule. `pipedream`: the"
        + " hierarchical optimizer with transfers, for the mini-batch that was measured. `2bw`:"
        + " PipeDream-2BW's planner, two versions of the weights in its memory. `inter-operator`:"
        + " Alpa's stage construction on up to 48 blocks of layers, samples shared in a stage."
        + " `torchgpipe`: block partition by seconds, one device per stage. `uniform layers`,"
        + " `uniform parameters`: of all depths × widths, 1 × 16 among them, the best. `mcap`: one"
        + " device per stage, the smallest peak; `capture`: any number of devices per stage, the"
        + " smallest peak, tensors not divided. `1f1b*`: Beaumont et al., one device per stage, within"
        + " memory. `placement`: Tarnawski et al., contiguous, one second of search. The last four and"
        + " `inter-operator` plan for 32 micro-batches.";
  }

  private static Markdown table(List<Row> rows, int gib) {
    List<String> header = new ArrayList<>(List.of("network (batch)", "on", "best, s"));
    Contender.ALL.forEach(one -> header.add(one.name()));
    Markdown table = new Markdown(header.toArray(String[]::new));
    for (Row row : of(rows, gib)) {
      List<Object> cells = new ArrayList<>();
      cells.add(row.network + " (" + row.globalBatch + ")");
      cells.add(letter(row.cluster));
      cells.add(Numbers.significant(row.best()));
      Contender.ALL.forEach(one -> cells.add(Numbers.fixed(row.ratio(one.name()), 2)));
      table.row(cells.toArray());
    }
    return table;
  }

  private static List<Row> of(List<Row> rows, int gib) {
    return rows.stream().filter(row -> row.gib == gib).toList();
  }

  private static String summaryWords() {
    return "Over all rows. Best: within 0.1 % of the best step. Step over the best: of the rows in which"
        + " the planner's proposal fits. Planning: wall time of one call for one row, everything"
        + " prepared anew, one thread, and for the first rows by a cold virtual machine; beside other"
        + " programs, so only the order of magnitude counts.";
  }

  private static Markdown summary(List<Row> rows) {
    Markdown table =
        new Markdown(
            "planner",
            "fits",
            "best in",
            "median ratio",
            "worst ratio",
            "planning, median ms",
            "worst ms",
            "on");
    for (Contender contender : Contender.ALL) {
      double[] ratios = sorted(rows, row -> row.ratio(contender.name()));
      double[] times = sorted(rows, row -> row.of(contender.name()).planningSeconds());
      table.row(
          contender.name(),
          ratios.length + " of " + rows.size(),
          Arrays.stream(ratios).filter(ratio -> ratio <= 1.001).count(),
          Numbers.fixed(median(ratios), 2),
          Numbers.fixed(ratios.length == 0 ? Double.NaN : ratios[ratios.length - 1], 2),
          Numbers.milliseconds(median(times)),
          Numbers.milliseconds(times[times.length - 1]),
          slowest(rows, contender));
    }
    return table;
  }

  private static String slowest(List<Row> rows, Contender contender) {
    Row row =
        rows.stream()
            .max(Comparator.comparingDouble(one -> one.of(contender.name()).planningSeconds()))
            .orElseThrow();
    return row.network + " on " + letter(row.cluster);
  }

  private static double[] sorted(List<Row> rows, ToDoubleFunction<Row> value) {
    return rows.stream().mapToDouble(value).filter(Double::isFinite).sorted().toArray();
  }

  static double median(double[] sorted) {
    int middle = sorted.length / 2;
    return sorted.length == 0
        ? Double.NaN
        : sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  private static Figure figure(List<Row> rows) {
    Figure figure =
        new Figure(
            "Step time over the best of all planners, %d GiB, one simulator".formatted(USUAL),
            860,
            1);
    for (String cluster : CLUSTERS) {
      List<Row> here = of(rows, USUAL).stream().filter(row -> row.cluster.equals(cluster)).toList();
      Dots dots =
          new Dots(
              cluster, Axis.logarithmic("× the best"), here.stream().map(Row::network).toList());
      for (String contender : DRAWN) {
        dots.add(contender, here.stream().mapToDouble(row -> row.ratio(contender)).toArray());
      }
      figure.add(dots);
    }
    return figure;
  }
}
