package dev.pipewright.bench.runtime;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Training here beside PyTorch's own, in turns: the same networks and batches, one thread to a
 * process, alone and as two data-parallel processes over Gloo.
 */
public final class TrainingSpeed implements Reproduction {
  private static final int ROUNDS = 5;

  private static final String PYTHON = "/usr/bin/python3";

  private static final String KERNELS = "OPENBLAS_CORETYPE";

  /** Debian's OpenBLAS takes processors that are newer than itself for one of 2004. */
  private static final List<String> THEIR_KERNELS =
      flags().contains("avx512f")
          ? List.of("env", KERNELS + "=SkylakeX")
          : List.of("env", "-u", KERNELS);

  /** What a worker takes by itself, whatever is set where this runs. */
  private static final List<String> OUR_KERNELS = List.of("env", "-u", KERNELS);

  private record Case(String network, String peer, int batch, int steps) {}

  private static final List<Case> CASES =
      List.of(
          new Case("mlp-8x1024", "mlp", 64, 40),
          new Case("cnn-64-128-256", "cnn", 32, 20),
          new Case("gpt-8x256", "gpt", 8, 24));

  @Override
  public String name() {
    return "training-speed";
  }

  @Override
  public String summary() {
    return "Training speed next to PyTorch's.";
  }

  @Override
  public List<String> needs() {
    return List.of("dapple");
  }

  @Override
  public Report run(Reference reference) {
    refuseOtherBlas();
    Path peer = reference.folder().resolveSibling("peers").resolve("torch_ddp.py");
    Markdown table =
        new Markdown("network", "batch", "processes", "PyTorch, s", "here, s", "PyTorch / here");
    for (Case each : CASES) {
      for (int processes = 1; processes <= 2; processes++) {
        double[] theirs = new double[ROUNDS];
        double[] ours = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
          theirs[round] = peer(peer, each, processes);
          ours[round] = here(each, processes);
        }
        double[] ratios = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
          ratios[round] = theirs[round] / ours[round];
        }
        System.err.println(each.network() + ", " + processes + ": " + Arrays.toString(ratios));
        table.row(
            each.network(),
            each.batch(),
            processes,
            Numbers.significant(median(theirs)),
            Numbers.significant(median(ours)),
            "%.2f".formatted(median(ratios)));
      }
    }
    return new Report("Training beside PyTorch")
        .paragraph(
            ("`Reproduce training-speed`: seconds of a step, medians of %d runs in turns; the last column is the median of the ratios of neighbouring runs, as the machine's speed drifts. PyTorch is the system's"
                    + " (Debian's `python3-torch` and `libopenblas0`, told to use the kernels for"
                    + " 512-bit instructions where the processor has them, which it does not see"
                    + " on newer ones; Pipewright takes what it takes by itself),"
                    + " its data parallelism `DistributedDataParallel`; one thread to a process, Gloo between two."
                    + " Momentum, random samples of the same shapes.")
                .formatted(ROUNDS))
        .table(table);
  }

  /** Beside the reference BLAS, which Debian's PyTorch takes otherwise, anything is fast. */
  private static void refuseOtherBlas() {
    String question =
        "import torch; print(str('openblas' in open('/proc/self/maps').read()).lower())";
    if (!Answers.of(List.of(PYTHON, "-c", question)).asBoolean()) {
      throw new IllegalStateException(
          "PyTorch of " + PYTHON + " does not compute with OpenBLAS; install libopenblas0.");
    }
  }

  private static List<String> flags() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("flags"))
          .findFirst()
          .map(line -> List.of(line.split(" ")))
          .orElse(List.of());
    } catch (IOException e) { // another system
      return List.of();
    }
  }

  private static double here(Case of, int processes) {
    List<String> command = new ArrayList<>(OUR_KERNELS);
    command.addAll(List.of("./pipewright", "train", of.network()));
    command.addAll(List.of("--global-batch", "" + of.batch(), "--steps", "" + of.steps()));
    command.addAll(List.of("--replicas", "" + processes, "--optimizer", "momentum", "--json"));
    return Answers.of(command).get("measured").get("step_s").asDouble();
  }

  private static double peer(Path script, Case of, int processes) {
    List<String> command = new ArrayList<>(THEIR_KERNELS);
    command.addAll(List.of(PYTHON, script.toString()));
    command.addAll(List.of(of.peer(), "" + processes, "" + of.batch(), "" + of.steps()));
    return Answers.of(command).get("median_s").asDouble();
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
