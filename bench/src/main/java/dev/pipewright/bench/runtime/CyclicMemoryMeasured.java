package dev.pipewright.bench.runtime;

import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.plot.Lines;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.runtime.launch.TemporaryFolder;
import dev.pipewright.sim.CyclicMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * How much less activation memory cyclic workers hold: figure 4 of <i>Cyclic Data Parallelism for
 * Efficient Parallelism of Deep Neural Networks</i>, arXiv:2403.08837, from one worker's measured
 * curve as there, and measured in one place that trains all micro-batches itself (§4.1).
 */
public final class CyclicMemoryMeasured implements Reproduction {
  private static final double MEBIBYTE = 1 << 20;
  private static final int[] WORKERS = {4, 8, 32};
  private static final int INTERVALS = 120; // of a curve in the picture
  private static final int MANY = 32; // samples
  private static final int STEPS_OF_OP = 16; // in its place
  private static final String STEPS = "6";

  /**
   * A network whose curve is measured.
   *
   * @param parts of equal arithmetic, between which memory is looked at
   * @param published less memory per worker at 32 workers
   */
  private record Network(String name, int samples, int parts, String published) {}

  private static final List<Network> NETWORKS =
      List.of(new Network("resnet-50", 4, 32, "30 %"), new Network("vit-b-16", 4, 14, "42 %"));

  private static final List<String> TRANSFORMERS =
      List.of(
          "vit:layers=16,hidden=128,heads=4,patch=8,size=64,classes=10",
          "vit:layers=24,hidden=128,heads=4,patch=8,size=64,classes=10");

  private static final int TOGETHER = 8; // micro-batches in one place

  /**
   * What a worker holds over a step.
   *
   * @param gradients of parameters
   * @param processBytes the most of all tensors
   */
  private record Recorded(
      double[] seconds, double[] activations, double[] gradients, double processBytes) {
    private CyclicMemory activationsOnly() {
      return curve(activations);
    }

    /** As the paper has it, which takes off only what is constant. */
    private CyclicMemory withGradients(double timesTheSamples) {
      double[] both = gradients.clone();
      Arrays.setAll(both, i -> gradients[i] + timesTheSamples * activations[i]);
      return curve(both);
    }

    /** Between two times memory is taken to change evenly. */
    private CyclicMemory curve(double[] bytes) {
      int ops = seconds.length - 1;
      double[] times = new double[ops * STEPS_OF_OP + 1];
      double[] held = new double[times.length];
      for (int i = 0; i < times.length; i++) {
        int op = Math.min(i / STEPS_OF_OP, ops - 1);
        double done = (double) (i - op * STEPS_OF_OP) / STEPS_OF_OP;
        times[i] = seconds[op] + done * (seconds[op + 1] - seconds[op]);
        held[i] = bytes[op] + done * (bytes[op + 1] - bytes[op]);
      }
      return new CyclicMemory(times, held);
    }

    private double most() {
      return Arrays.stream(activations).max().orElseThrow();
    }
  }

  @Override
  public String name() {
    return "cyclic-memory-measured";
  }

  @Override
  public String summary() {
    return "CDP, figure 4: measured activations of cyclic workers.";
  }

  @Override
  public Report run(Reference reference) {
    Figure figure = new Figure("Activation memory per worker over a training step", 1060, 2);
    Markdown curves =
        new Markdown(
            "network",
            "samples",
            "in step, MiB",
            "4 workers",
            "8",
            "32",
            "with gradients",
            "of %d samples".formatted(MANY),
            "published");
    NETWORKS.forEach(network -> row(curves, figure, network));
    Markdown direct =
        new Markdown(
            "network",
            "rule",
            "at once, MiB",
            "cyclic, MiB",
            "cyclic / at once",
            "(N + 1) / 2N",
            "all tensors, cyclic / at once");
    TRANSFORMERS.forEach(network -> rows(direct, network));
    return new Report("Activation memory of cyclic data parallelism, measured")
        .paragraph(
            "`Reproduce cyclic-memory-measured`. Figure 4 of arXiv:2403.08837: from the activations"
                + " that one worker holds over a forward and a backward pass, what so many workers"
                + " hold per worker that begin one after another, and how much less that is than"
                + " where all begin at once. Networks are cut in parts of equal arithmetic that one"
                + " process trains (`train … --schedule interleaved --chunks`); what it holds is"
                + " counted between them, tensor by tensor (`--out`: `memory/worker-0.csv`), and taken to"
                + " change evenly from one to the next. The paper takes off what is constant, so that"
                + " gradients of parameters count, too, as they come about: the last columns are of"
                + " 32 workers, with these, of as many samples as measured and of as many as make"
                + " activations as large as there, in proportion.")
        .table(curves)
        .heading("In one place")
        .paragraph(
            "One process trains %d micro-batches: forwards one behind the other, then backwards"
                    .formatted(TOGETHER)
                + " (`--schedule gpipe`), or cyclically in as many stages of equal arithmetic"
                + " (`--schedule cyclic-v1-single`). Most activations that are held between two"
                + " passes; and most memory of all tensors, with parameters, gradients and what"
                + " passes need for a moment.")
        .table(direct)
        .figure(figure);
  }

  private static void row(Markdown table, Figure figure, Network network) {
    Recorded recorded =
        record(
            network.name(),
            network.samples(),
            List.of("--schedule", "interleaved", "--chunks", "" + network.parts()),
            1);
    CyclicMemory worker = recorded.activationsOnly();
    List<Object> cells = new ArrayList<>();
    cells.add(network.name());
    cells.add(network.samples());
    cells.add(Numbers.fixed(worker.most() / MEBIBYTE, 1));
    double period = worker.period();
    Lines lines =
        new Lines(network.name(), Axis.fromZero("seconds"), Axis.fromZero("MiB per worker"), 320);
    lines.add("in step", middles(period), most(worker, period, 1));
    for (int workers : WORKERS) {
      CyclicMemory together = worker.together(workers);
      cells.add(less(worker, workers));
      lines.add(workers + " cyclic", middles(period), most(together, period, workers));
    }
    int most = WORKERS[WORKERS.length - 1];
    cells.add(less(recorded.withGradients(1), most));
    cells.add(less(recorded.withGradients((double) MANY / network.samples()), most));
    cells.add("−" + network.published());
    table.row(cells.toArray());
    figure.add(lines.limit(worker.most() / 2 / MEBIBYTE, "half"));
  }

  private static String less(CyclicMemory worker, int workers) {
    return "−" + Numbers.percent(1 - worker.cyclic(workers) / worker.inStep(workers));
  }

  private static double[] middles(double period) {
    double[] times = new double[INTERVALS];
    Arrays.setAll(times, i -> (i + 0.5) * period / INTERVALS);
    return times;
  }

  /** Mebibytes per worker in each interval. */
  private static double[] most(CyclicMemory curve, double period, int workers) {
    double[] most = new double[INTERVALS];
    double width = period / INTERVALS;
    Arrays.setAll(most, i -> curve.most(i * width, (i + 1) * width) / workers / MEBIBYTE);
    return most;
  }

  private static void rows(Markdown table, String network) {
    Recorded together = record(network, 2 * TOGETHER, List.of("--schedule", "gpipe"), TOGETHER);
    for (String rule : List.of("cyclic-v1", "cyclic-v2")) {
      List<String> flags = List.of("--stages", "" + TOGETHER, "--schedule", rule + "-single");
      Recorded cyclic = record(network, 2 * TOGETHER, flags, TOGETHER);
      table.row(
          network,
          rule,
          Numbers.fixed(together.most() / MEBIBYTE, 1),
          Numbers.fixed(cyclic.most() / MEBIBYTE, 1),
          Numbers.fixed(cyclic.most() / together.most(), 4),
          Numbers.fixed((TOGETHER + 1.0) / (2 * TOGETHER), 4),
          Numbers.fixed(cyclic.processBytes() / together.processBytes(), 3));
    }
  }

  private static Recorded record(
      String network, int samples, List<String> flags, int microBatches) {
    try (TemporaryFolder temporary = TemporaryFolder.create()) {
      Path folder = temporary.path();
      List<String> command = new ArrayList<>(List.of("./pipewright", "train", network, "--json"));
      command.addAll(List.of("--global-batch", "" + samples, "--steps", STEPS));
      command.addAll(List.of("--optimizer", "sgd"));
      command.addAll(List.of("--micro-batches", "" + microBatches));
      command.addAll(List.of("--out", folder.resolve("run").toString()));
      command.addAll(flags);
      JsonNode measured = Answers.of(command).get("measured");
      Path file = folder.resolve("run").resolve("memory").resolve("worker-0.csv");
      return recorded(Files.readAllLines(file), measured.get("peak_bytes").get(0).asDouble());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Recorded recorded(List<String> lines, double processBytes) {
    return new Recorded(
        column(lines, "time"),
        column(lines, "activations"),
        column(lines, "gradients"),
        processBytes);
  }

  private static double[] column(List<String> lines, String name) {
    int column = List.of(lines.get(0).split(",")).indexOf(name);
    return lines.stream()
        .skip(1)
        .mapToDouble(line -> Double.parseDouble(line.split(",", -1)[column]))
        .toArray();
  }
}
