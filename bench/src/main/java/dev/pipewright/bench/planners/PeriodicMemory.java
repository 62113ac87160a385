package dev.pipewright.bench.planners;

import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.plot.Lines;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.planner.madpipe.LayerChain;
import dev.pipewright.planner.madpipe.PeriodicPlanner;
import dev.pipewright.planner.madpipe.PeriodicPlanning;
import dev.pipewright.planner.madpipe.PeriodicProblem;
import dev.pipewright.planner.madpipe.PlacedPattern;
import java.util.List;
import java.util.Optional;

/**
 * Seconds per mini-batch against memory for the plans of Beaumont et al.: one stage per device by
 * 1F1B, by 1F1B* and with batches dropped, and several stages on a device, over the lower bound.
 */
public final class PeriodicMemory implements Reproduction {
  private static final List<String> MODELS =
      List.of("resnet-50", "resnet-101", "inception-v3", "vgg-16", "vgg-19");
  private static final int[] DEVICES = {4, 8};
  private static final int SAMPLES = 64;
  private static final double[] GIBIBYTES = {1.5, 2, 2.5, 3, 4, 5, 6, 8, 12, 16};

  /** Milliseconds per mini-batch, by memory. */
  private record Curves(
      double[] bound, double[] plain, double[] star, double[] dropping, double[] general) {}

  @Override
  public String name() {
    return "periodic-memory";
  }

  @Override
  public String summary() {
    return "Beaumont et al.: period against memory.";
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown(
            "network",
            "devices",
            "GiB",
            "bound, ms",
            "1F1B",
            "1F1B*",
            "k-periodic",
            "any",
            "any saves",
            "binding bound");
    Figure figure =
        new Figure("Time per mini-batch of 64 against memory, V100s joined by NVLink", 1060, 2);
    for (String model : MODELS) {
      for (int devices : DEVICES) {
        LayerChain chain =
            LayerChain.of(
                Networks.zoo(model, Networks.cluster("dapple-a:1x" + devices), SAMPLES), SAMPLES);
        Curves curves = curves(chain, model, devices, table);
        figure.add(
            new Lines(
                    model + ", " + devices + " devices",
                    Axis.logarithmic("memory per device, GiB").marked(1.5, 2, 3, 4, 6, 8, 12, 16),
                    Axis.logarithmic("ms per mini-batch"),
                    300)
                .add("lower bound", GIBIBYTES, curves.bound())
                .add("contiguous, 1F1B", GIBIBYTES, curves.plain())
                .add("contiguous, 1F1B*", GIBIBYTES, curves.star())
                .add("contiguous, 1F1B* or k-periodic", GIBIBYTES, curves.dropping())
                .add("any stages on any device", GIBIBYTES, curves.general()));
      }
    }
    return new Report("Memory-limited throughput of periodic schedules")
        .paragraph(
            "Beaumont, Eyraud-Dubois, Shilova, Euro-Par 2021. Networks of the zoo in mini-batches of 64"
                + " on 4 and 8 V100s of one machine. The three contiguous columns are optima of their"
                + " kind, transfers counted as stages of their own; `k-periodic` is the better of 1F1B*"
                + " and all k. `any` is the best plan found, its period that of a pattern that was"
                + " checked; the bound holds for every allocation and every periodic schedule. –: does"
                + " not fit. What fits into less memory is kept where more finds nothing better.")
        .table(table)
        .figure(figure);
  }

  private static Curves curves(LayerChain chain, String model, int devices, Markdown table) {
    int points = GIBIBYTES.length;
    Curves curves =
        new Curves(
            new double[points],
            new double[points],
            new double[points],
            new double[points],
            new double[points]);
    double best = Double.POSITIVE_INFINITY; // what fits into less memory fits into more
    for (int i = 0; i < points; i++) {
      var problem = new PeriodicProblem(chain, devices, GIBIBYTES[i] * (1L << 30));
      PeriodicPlanning planning = PeriodicPlanner.plan(problem, () -> false);
      best = Math.min(best, milliseconds(planning.best(), Double.POSITIVE_INFINITY));
      double contiguous = milliseconds(planning.contiguous(), Double.NaN);
      curves.bound()[i] = finite(planning.lowerBound().value() * 1e3);
      curves.plain()[i] = milliseconds(planning.plain(), Double.NaN);
      curves.star()[i] = milliseconds(planning.star(), Double.NaN);
      curves.dropping()[i] = contiguous;
      curves.general()[i] = finite(best);
      table.row(
          model,
          devices,
          GIBIBYTES[i],
          Numbers.significant(curves.bound()[i]),
          Numbers.significant(curves.plain()[i]),
          Numbers.significant(curves.star()[i]),
          Numbers.significant(contiguous),
          Numbers.significant(curves.general()[i]),
          best < contiguous ? Numbers.percent(1 - best / contiguous) : "–",
          planning.lowerBound().why());
    }
    return curves;
  }

  private static double finite(double value) {
    return Double.isFinite(value) ? value : Double.NaN;
  }

  private static double milliseconds(Optional<PlacedPattern> plan, double otherwise) {
    return plan.map(found -> found.secondsPerBatch() * 1e3).orElse(otherwise);
  }
}
