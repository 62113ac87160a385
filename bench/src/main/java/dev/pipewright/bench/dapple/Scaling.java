package dev.pipewright.bench.dapple;

import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.plot.Lines;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/**
 * Planning time by layers, devices and batch, each planning in a fresh process with a limit of
 * time.
 */
public final class Scaling implements Reproduction {
  private static final int LIMIT_SECONDS = 120;
  private static final int LAYERS = 200;
  private static final int DEVICES = 64;
  private static final int SAMPLES_PER_DEVICE = 4;

  /** One planning that ended in time. */
  private record Point(
      double seconds, double step, double bound, boolean exhaustive, long labels, double even) {}

  @Override
  public String name() {
    return "scaling";
  }

  @Override
  public String summary() {
    return "Planning time by size.";
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown(
            "layers",
            "devices",
            "batch",
            "planning, s",
            "step, s",
            "above the bound",
            "to even split",
            "exhaustive",
            "plans");
    double[] layers = {50, 100, 200, 500, 1000};
    double[] devices = {16, 32, 64, 128, 256, 512, 1024};
    double[] batches = {64, 256, 1024, 4096, 16384};
    Lines byLayers = panel("By layers (" + DEVICES + " devices)", "layers", layers);
    Lines byDevices = panel("By devices (" + LAYERS + " layers)", "devices", devices);
    Lines byBatch =
        panel(
            "By batch (" + LAYERS + " layers, " + DEVICES + " devices)",
            "samples per step",
            batches);
    byLayers.add(
        "planning time",
        layers,
        sweep(table, layers, n -> new int[] {n, DEVICES, DEVICES * SAMPLES_PER_DEVICE}));
    byDevices.add(
        "planning time",
        devices,
        sweep(table, devices, n -> new int[] {LAYERS, n, n * SAMPLES_PER_DEVICE}));
    byBatch.add(
        "planning time", batches, sweep(table, batches, n -> new int[] {LAYERS, DEVICES, n}));
    sweep(table, new double[] {1024}, n -> new int[] {1000, n, n * SAMPLES_PER_DEVICE});
    return new Report("Planning time by size")
        .paragraph(
            ("Stacks of transformer blocks that differ by up to 40 %% in work, size and memory (seeded), on"
                    + " machines of 8 devices of 16 GiB; planned by `auto`; micro-batches, schedules and recomputation open;"
                    + " %d samples per device where not said otherwise. Each planning in a fresh process,"
                    + " so with a cold virtual machine, ended after %d s (–); larger ones of the same row are"
                    + " then left out. Bars: 200 layers × 256 devices within 10 s, 1,000 × 1,024 within 60 s."
                    + " Above the bound: the step over the lower bound that the answer states."
                    + " To even split: over the best plan with 2ⁿ stages of equally many layers and devices.")
                .formatted(SAMPLES_PER_DEVICE, LIMIT_SECONDS))
        .table(table)
        .figure(
            new Figure("Planning time by size of the problem", 1060, 3)
                .add(byLayers)
                .add(byDevices.limit(10, "10 s"))
                .add(byBatch));
  }

  private static Lines panel(String title, String label, double[] marks) {
    return new Lines(
        title,
        Axis.logarithmic(label).marked(marks),
        Axis.logarithmic("seconds").marked(1, 2, 5, 10, 20, 50),
        320);
  }

  private static double[] sweep(Markdown table, double[] values, IntFunction<int[]> sizes) {
    double[] seconds = new double[values.length];
    Arrays.fill(seconds, Double.NaN);
    for (int i = 0; i < values.length; i++) {
      int[] size = sizes.apply((int) values[i]);
      Optional<Point> point = point(size);
      if (point.isEmpty()) {
        table.row(size[0], size[1], size[2], "> " + LIMIT_SECONDS, "–", "–", "–", "–", "–");
        break;
      }
      Point one = point.get();
      seconds[i] = one.seconds();
      table.row(
          size[0],
          size[1],
          size[2],
          Numbers.significant(one.seconds()),
          Numbers.significant(one.step()),
          Numbers.more(one.step(), one.bound()),
          Numbers.more(one.step(), one.even()),
          one.exhaustive() ? "yes" : "no",
          one.labels());
    }
    return seconds;
  }

  private static Optional<Point> point(int[] size) {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            ScalingPoint.class.getName(),
            "" + size[0],
            "" + size[1],
            "" + size[2]);
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
        return Optional.empty();
      }
      String line = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.exitValue() == 0 ? Optional.of(parse(line)) : Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  private static Point parse(String line) {
    List<String> words = List.of(line.strip().split(" ", -1));
    return new Point(
        Double.parseDouble(words.get(0)),
        Double.parseDouble(words.get(1)),
        Double.parseDouble(words.get(2)),
        Boolean.parseBoolean(words.get(3)),
        Long.parseLong(words.get(4)),
        Double.parseDouble(words.get(5)));
  }
}
