package dev.pipewright.bench.simulator;

import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.plot.Lines;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.bench.reproduction.Timing;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.DoubleStream;

/** Seconds in which schedules are made, by micro-batches and by ranks. */
public final class ScheduleScaling implements Reproduction {
  private static final int REPETITIONS = 5;
  private static final double WARM_UP_SECONDS = 0.5;
  private static final int RANKS = 64;
  private static final int MICRO_BATCHES = 4096;
  private static final double BAR = 0.05;
  private static final double[] BY_MICRO_BATCHES = {128, 256, 512, 1024, 2048, 4096};
  private static final double[] BY_RANKS = {4, 8, 16, 32, 64, 128, 256, 512};

  private static final int SEARCHED_RANKS = 16;
  private static final int SEARCHED_MICRO_BATCHES = 128;
  private static final double[] SEARCHED_BY_MICRO_BATCHES = {32, 64, 128, 256, 512, 1024};
  private static final double[] SEARCHED_BY_RANKS = {4, 8, 16, 32, 64};
  private static final List<String> DRAWN = List.of("zb-auto", "v-half");

  /** How long one schedule takes, by size. */
  private record Curve(Generator generator, double[] byMicroBatches, double[] byRanks) {}

  @Override
  public String name() {
    return "schedule-scaling";
  }

  @Override
  public String summary() {
    return "Time that schedules take to make by size.";
  }

  @Override
  public Report run(Reference reference) {
    Markdown bars =
        new Markdown("schedule", "ops", "made in, ms", "processor, ms", "ns per op", "bar, ms", "");
    warm(Generator.RULES, RANKS, MICRO_BATCHES);
    warm(Generator.SEARCHED, SEARCHED_RANKS, SEARCHED_MICRO_BATCHES);
    List<Curve> rules = Generator.RULES.stream().map(ScheduleScaling::rule).toList();
    List<Curve> searched = Generator.SEARCHED.stream().map(ScheduleScaling::searched).toList();
    Generator.RULES.forEach(one -> bar(bars, one, RANKS, MICRO_BATCHES, BAR));
    bar(bars, Generator.of("zb-auto"), 32, 256, 0.1);
    bar(bars, Generator.UNEVEN_AUTOMATIC, 32, 256, 0.1);
    bar(bars, Generator.of("v-half"), 16, 128, 0.2);
    bar(bars, Generator.UNEVEN_HALF, 16, 128, 0.2);
    return new Report("Seconds in which schedules are made")
        .paragraph(
            ("`Reproduce %s`, computed %s. Median of %d repetitions on one warm thread; processor time of that thread"
                    + " where not said otherwise, without that of the garbage collector's. Two chunks per rank"
                    + " where there may be more; searched schedules for passes of 1 (or, where stages differ, of 1"
                    + " to 2, seeded) and transfers of 0.1. Processor time decides whether a bar is held.")
                .formatted(name(), LocalDate.now(ZoneOffset.UTC), REPETITIONS))
        .heading("At the size of the bars: 64 × 4,096, zb-auto 32 × 256, v-half 16 × 128")
        .table(bars)
        .heading("Milliseconds by micro-batches, " + RANKS + " ranks")
        .table(table("micro-batches", BY_MICRO_BATCHES, rules, Curve::byMicroBatches))
        .heading("Milliseconds by ranks, " + MICRO_BATCHES + " micro-batches")
        .table(table("ranks", BY_RANKS, rules, Curve::byRanks))
        .heading("Searched: milliseconds by micro-batches, " + SEARCHED_RANKS + " ranks")
        .table(table("micro-batches", SEARCHED_BY_MICRO_BATCHES, searched, Curve::byMicroBatches))
        .heading("Searched: milliseconds by ranks, " + SEARCHED_MICRO_BATCHES + " micro-batches")
        .table(table("ranks", SEARCHED_BY_RANKS, searched, Curve::byRanks))
        .figure(figure(rules, searched));
  }

  /** All of them, so that code they share is as warm for the first as for the last. */
  private static void warm(List<Generator> generators, int ranks, int microBatches) {
    for (Generator one : generators) {
      Timing.warm(() -> one.make(ranks, microBatches), 1, WARM_UP_SECONDS);
    }
  }

  private static Curve rule(Generator generator) {
    return curve(generator, RANKS, BY_MICRO_BATCHES, MICRO_BATCHES, BY_RANKS);
  }

  private static Curve searched(Generator generator) {
    return curve(
        generator,
        SEARCHED_RANKS,
        SEARCHED_BY_MICRO_BATCHES,
        SEARCHED_MICRO_BATCHES,
        SEARCHED_BY_RANKS);
  }

  private static Curve curve(
      Generator generator, int ranks, double[] byMicroBatches, int microBatches, double[] byRanks) {
    return new Curve(
        generator,
        Arrays.stream(byMicroBatches).map(m -> timed(generator, ranks, (int) m).cpu()).toArray(),
        Arrays.stream(byRanks).map(p -> timed(generator, (int) p, microBatches).cpu()).toArray());
  }

  private static Timing timed(Generator generator, int ranks, int microBatches) {
    generator.make(ranks, microBatches);
    return Timing.of(() -> generator.make(ranks, microBatches), REPETITIONS);
  }

  private static void bar(
      Markdown table, Generator generator, int ranks, int microBatches, double bar) {
    long ops = generator.make(ranks, microBatches).size();
    Timing.warm(() -> generator.make(ranks, microBatches), 1, WARM_UP_SECONDS);
    Timing timing = timed(generator, ranks, microBatches);
    table.row(
        generator.name(),
        ops,
        Numbers.milliseconds(timing.wall()),
        Numbers.milliseconds(timing.cpu()),
        Numbers.significant(1e9 * timing.cpu() / ops),
        Numbers.fixed(1e3 * bar, 0),
        timing.cpu() <= bar ? "holds" : "misses");
  }

  private static Markdown table(
      String by, double[] sizes, List<Curve> curves, Function<Curve, double[]> y) {
    String[] header = new String[1 + sizes.length];
    header[0] = by;
    for (int i = 0; i < sizes.length; i++) {
      header[1 + i] = String.format(Locale.ROOT, "%,d", (int) sizes[i]);
    }
    Markdown table = new Markdown(header);
    for (Curve curve : curves) {
      Object[] row = new Object[1 + sizes.length];
      row[0] = curve.generator().name();
      for (int i = 0; i < sizes.length; i++) {
        row[1 + i] = Numbers.milliseconds(y.apply(curve)[i]);
      }
      table.row(row);
    }
    return table;
  }

  private static Figure figure(List<Curve> rules, List<Curve> searched) {
    Lines ruledByMicroBatches =
        panel("By rule, " + RANKS + " ranks", "micro-batches", BY_MICRO_BATCHES, 1e-4, 0.1);
    Lines ruledByRanks =
        panel("By rule, " + MICRO_BATCHES + " micro-batches", "ranks", BY_RANKS, 1e-4, 10);
    for (String family : Generator.FAMILIES) {
      List<Curve> members =
          rules.stream().filter(curve -> curve.generator().family().equals(family)).toList();
      ruledByMicroBatches.add(
          family, BY_MICRO_BATCHES, slowest(members.stream().map(Curve::byMicroBatches).toList()));
      ruledByRanks.add(family, BY_RANKS, slowest(members.stream().map(Curve::byRanks).toList()));
    }
    Lines byMicroBatches =
        panel(
            "Searched, " + SEARCHED_RANKS + " ranks",
            "micro-batches",
            SEARCHED_BY_MICRO_BATCHES,
            1e-3,
            0.1);
    Lines byRanks =
        panel(
            "Searched, " + SEARCHED_MICRO_BATCHES + " micro-batches",
            "ranks",
            SEARCHED_BY_RANKS,
            1e-3,
            0.1);
    for (Curve curve : searched) {
      if (DRAWN.contains(curve.generator().name())) {
        String name = curve.generator().name();
        byMicroBatches.add(name, SEARCHED_BY_MICRO_BATCHES, curve.byMicroBatches());
        byRanks.add(name, SEARCHED_BY_RANKS, curve.byRanks());
      }
    }
    return new Figure("Making schedules; of each family the slowest", 1060, 2)
        .add(ruledByMicroBatches.limit(BAR, "50 ms"))
        .add(ruledByRanks.limit(BAR, "50 ms"))
        .add(byMicroBatches)
        .add(byRanks);
  }

  private static double[] slowest(List<double[]> curves) {
    double[] most = curves.getFirst().clone();
    for (double[] curve : curves) {
      Arrays.setAll(most, i -> Math.max(most[i], curve[i]));
    }
    return most;
  }

  /** With a mark at each power of ten from the least to the most seconds. */
  private static Lines panel(
      String title, String label, double[] marks, double least, double most) {
    double[] powers =
        DoubleStream.iterate(least, power -> power < 1.5 * most, power -> 10 * power).toArray();
    return new Lines(
        title,
        Axis.logarithmic(label).marked(marks),
        Axis.logarithmic("seconds of processor time").marked(powers),
        340);
  }
}
