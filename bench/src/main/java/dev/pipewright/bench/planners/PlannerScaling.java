package dev.pipewright.bench.planners;

import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.plot.Lines;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.alpa.InterOperatorPlanner;
import dev.pipewright.planner.alpa.StageTable;
import dev.pipewright.planner.madpipe.ContiguousPlanner;
import dev.pipewright.planner.madpipe.PeriodicPlanner;
import dev.pipewright.planner.madpipe.PeriodicProblem;
import dev.pipewright.planner.memory.Capture;
import dev.pipewright.planner.memory.LayerPeaks;
import dev.pipewright.planner.memory.McapBruteForce;
import dev.pipewright.planner.memory.McapExact;
import dev.pipewright.planner.memory.TieBreak;
import dev.pipewright.planner.pipedream.BandwidthLevel;
import dev.pipewright.planner.pipedream.CutCosts;
import dev.pipewright.planner.pipedream.PipeDreamOptimizer;
import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.PlacementPlanner;
import dev.pipewright.planner.placement.PlacementRequest;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.periodic.Discipline;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntFunction;
import java.util.stream.DoubleStream;

/** How the time of each family of planners grows, and the bars that are set for it. */
public final class PlannerScaling implements Reproduction {
  private static final double SECONDS = 0.6; // of repeating each planning
  private static final double LONG = 5; // larger ones are left out after that
  private static final List<BandwidthLevel> FLAT = List.of(new BandwidthLevel(16, 1e9));
  private static final int BALANCED_STAGES = 8;
  private static final int BRUTE_FORCED = 5; // sizes; the next has 10¹⁰ partitions
  private static final int CHAINS = 3;
  private static final int SAMPLES_PER_DEVICE = 4;
  private static final int PERIODIC_DEVICES = 8;

  /** One line of a panel: processor seconds by size; NaN where it was left out. */
  private record Curve(String name, double[] sizes, double[] seconds) {
    static Curve of(String name, double[] sizes, IntFunction<Runnable> planning) {
      double[] seconds = new double[sizes.length];
      Arrays.fill(seconds, Double.NaN);
      for (int i = 0; i < sizes.length && (i == 0 || seconds[i - 1] < LONG); i++) {
        seconds[i] = PlannerTiming.of(planning.apply((int) sizes[i]), SECONDS).cpu();
      }
      return new Curve(name, sizes, seconds);
    }

    /** The same beside curves of more sizes. */
    Curve over(double[] more) {
      double[] longer = Arrays.copyOf(seconds, more.length);
      Arrays.fill(longer, seconds.length, more.length, Double.NaN);
      return new Curve(name, more, longer);
    }

    /** The power of the size with which it grows over the last doublings. */
    double power() {
      int last = sizes.length - 1;
      while (last > 0 && Double.isNaN(seconds[last])) {
        last--;
      }
      int from = Math.max(0, last - 2);
      return Math.log(seconds[last] / seconds[from]) / Math.log(sizes[last] / sizes[from]);
    }
  }

  /** Curves over the same axis. */
  private record Family(String title, String by, List<Curve> curves, Optional<String> remark) {
    Family(String title, String by, List<Curve> curves) {
      this(title, by, curves, Optional.empty());
    }

    Markdown table() {
      List<String> header = new ArrayList<>(List.of(by));
      for (double size : curves.get(0).sizes) {
        header.add("%,d".formatted((int) size));
      }
      header.add("grows with power");
      Markdown table = new Markdown(header.toArray(String[]::new));
      for (Curve curve : curves) {
        List<Object> row = new ArrayList<>(List.of(curve.name));
        Arrays.stream(curve.seconds).forEach(each -> row.add(Numbers.milliseconds(each)));
        row.add(Numbers.fixed(curve.power(), 1));
        table.row(row.toArray());
      }
      return table;
    }

    Lines panel() {
      double[] all =
          curves.stream()
              .flatMapToDouble(curve -> Arrays.stream(curve.seconds))
              .filter(Double::isFinite)
              .toArray();
      double least = Math.pow(10, Math.floor(Math.log10(Arrays.stream(all).min().orElse(1))));
      double most = Arrays.stream(all).max().orElse(1);
      double[] powers =
          DoubleStream.iterate(least, power -> power < 1.5 * most, power -> 10 * power).toArray();
      Lines lines =
          new Lines(
              title,
              Axis.logarithmic(by).marked(curves.get(0).sizes),
              Axis.logarithmic("seconds of processor time").marked(powers),
              320);
      curves.forEach(curve -> lines.add(curve.name, curve.sizes, curve.seconds));
      return lines;
    }
  }

  @Override
  public String name() {
    return "planner-scaling";
  }

  @Override
  public String summary() {
    return "Planning time against the authors' programs.";
  }

  @Override
  public Report run(Reference reference) {
    Report report =
        new Report("Planning time of all families of planners")
            .paragraph(
                "`Reproduce planner-scaling`, one thread; inputs are there already, what planning"
                    + " prepares from them is part of it. Seeded inputs where no network is named. First:"
                    + " the first call in the process; warm: the least of several calls; processor:"
                    + " the same in processor time of the thread, which other programs beside it"
                    + " disturb less.")
            .heading("At the size of the bars")
            .paragraph(
                "Theirs: the authors' programs on one core, in-process where they say so, as recorded"
                    + " with the reference files or published with the bar.")
            .table(PlannerBars.table(reference));
    Figure figure = new Figure("Planning time of all families of planners", 1060, 2);
    for (Family family :
        List.of(
            pipeDream(), lattice(), orders(), balance(), capture(), interOperator(), periodic())) {
      report.heading(family.title + ": milliseconds by " + family.by);
      family.remark.ifPresent(report::paragraph);
      report.table(family.table());
      figure.add(family.panel());
    }
    return report.figure(figure);
  }

  private static Family pipeDream() {
    double[] states = {100, 200, 400, 800, 1_500};
    return new Family(
        "PipeDream's optimizer",
        "states",
        List.of(
            Curve.of("flat, 16 devices", states, size -> pipeDream(size, FLAT)),
            Curve.of("4×4", states, size -> pipeDream(size, PlannerBars.FOUR_BY_FOUR))));
  }

  private static Runnable pipeDream(int states, List<BandwidthLevel> levels) {
    CutCosts costs = ScalingInputs.chain(states);
    return () -> PipeDreamOptimizer.plan(costs, levels, true, () -> false);
  }

  private static Family lattice() {
    double[] lengths = {5, 10, 15, 20, 30, 40};
    double[] ideals = Arrays.stream(lengths).map(n -> Math.pow(n + 1, CHAINS) + 2).toArray();
    Curve byLength =
        Curve.of(
            "all contiguous sets",
            lengths,
            length -> {
              OperatorGraph graph = ScalingInputs.branches(CHAINS, length);
              return () -> PlacementPlanner.plan(graph, PlacementRequest.contiguous());
            });
    return new Family(
        "Placement of three chains side by side, 6 accelerators",
        "ideals",
        List.of(new Curve(byLength.name, ideals, byLength.seconds)));
  }

  private static Family orders() {
    double[] lengths = {100, 200, 400, 800, 1_600};
    return new Family(
        "Placement along one order, 6 accelerators",
        "operators",
        List.of(
            Curve.of(
                "one order",
                lengths,
                length -> {
                  OperatorGraph graph = ScalingInputs.branches(1, length - 2);
                  return () ->
                      PlacementPlanner.plan(graph, PlacementRequest.contiguous().linearized());
                })));
  }

  private static Family balance() {
    double[] layers = {12, 16, 24, 32, 40, 100, 400, 1_600};
    return new Family(
        "Least peak, " + BALANCED_STAGES + " stages",
        "layers",
        List.of(
            Curve.of(
                "mCAP, exact",
                layers,
                size -> {
                  LayerPeaks peaks = ScalingInputs.peaks(size);
                  return () -> McapExact.of(peaks, size, BALANCED_STAGES, TieBreak.NONE);
                }),
            Curve.of(
                    "mCAP, brute force",
                    Arrays.copyOf(layers, BRUTE_FORCED),
                    size -> {
                      LayerPeaks peaks = ScalingInputs.peaks(size);
                      return () -> McapBruteForce.of(peaks, size, BALANCED_STAGES, () -> false);
                    })
                .over(layers)));
  }

  private static Family capture() {
    double[] devices = {2, 4, 8, 16, 32, 64};
    return new Family(
        "CAPTURE, GPT-2 with 48 blocks, " + SAMPLES_PER_DEVICE + " samples per device",
        "devices",
        List.of(
            Curve.of("least peak alone", devices, size -> capture(size, true)),
            Curve.of("with a dozen plans of the front", devices, size -> capture(size, false))),
        Optional.of("Devices of 16 GiB; on 2 and 4 of them nothing fits, so there is no front."));
  }

  private static Runnable capture(int devices, boolean alone) {
    int batch = SAMPLES_PER_DEVICE * devices;
    StageCosts costs = ScalingInputs.transformer(devices, batch);
    Request request =
        new Request(
            batch,
            OptionalInt.of(2),
            List.of(PipelinePolicy.A),
            Recomputation.NEVER,
            CostModel.PIPEWRIGHT);
    Capture.Limits limits = new Capture.Limits(8, 12, 200_000);
    return () -> Capture.plan(new StageCosts(costs.workload()), request, limits, () -> alone);
  }

  private static Family interOperator() {
    double[] layers = {8, 16, 32, 64};
    List<Curve> curves = new ArrayList<>();
    for (int devices : new int[] {8, 16, 32, 64}) {
      curves.add(
          Curve.of(
              devices + " devices",
              layers,
              size -> {
                StageTable stages = ScalingInputs.stages(size);
                return () -> InterOperatorPlanner.plan(stages, devices, 128);
              }));
    }
    return new Family("Alpa's stage construction, 128 micro-batches", "layers", curves);
  }

  private static Family periodic() {
    double[] layers = {12, 16, 24, 32, 48, 64};
    return new Family(
        "Periodic plans, " + PERIODIC_DEVICES + " devices",
        "layers",
        List.of(
            Curve.of(
                "contiguous, 1F1B*",
                layers,
                size -> {
                  PeriodicProblem problem = ScalingInputs.periodic(size, PERIODIC_DEVICES);
                  return () -> ContiguousPlanner.plan(problem, new Discipline.Star());
                }),
            Curve.of(
                "any stages on any device",
                layers,
                size -> {
                  PeriodicProblem problem = ScalingInputs.periodic(size, PERIODIC_DEVICES);
                  return () -> PeriodicPlanner.plan(problem, () -> false);
                })),
        Optional.of(
            "Where the best contiguous plan meets the bound, nothing else is searched, hence no power."));
  }
}
