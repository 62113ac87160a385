package dev.pipewright.bench.runtime;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.trace.TracedProfile;
import dev.pipewright.formats.trace.TracedRun;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.runtime.launch.TemporaryFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.ToDoubleFunction;

/**
 * Passes that {@code import} finds in traces of {@code tools/pipewright_profile.py}, next to those
 * that the tool measures layer by layer in the same run.
 */
public final class TracedTimes implements Reproduction {
  private static final int ROUNDS = 5;
  private static final String PYTHON = "/usr/bin/python3";
  private static final Path TOOL = Path.of("tools/pipewright_profile.py");

  private static final String NETWORKS =
      """
      import torch, torch.nn as nn, torch.nn.functional as F

      class Perceptron(nn.Module):
          def __init__(self):
              super().__init__()
              self.first, self.second, self.third = (nn.Linear(768, 768) for _ in range(3))
          def forward(self, x):
              return self.third(F.relu(self.second(F.relu(self.first(x)))))

      def perceptron():
          return Perceptron(), torch.randn(2, 768), lambda y: (y * y).sum()

      class Block(nn.Module):
          def __init__(self, d):
              super().__init__()
              self.norm, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
          def forward(self, x):
              return x + self.down(F.gelu(self.up(self.norm(x))))

      class Blocks(nn.Module):
          def __init__(self):
              super().__init__()
              self.table, self.layer, self.head = nn.Embedding(1000, 256), nn.ModuleList([Block(256) for _ in range(3)]), nn.Linear(256, 1000)
          def forward(self, tokens):
              x = self.table(tokens)
              for block in self.layer:
                  x = block(x)
              return self.head(x)

      def blocks():
          words = lambda y: F.cross_entropy(y.flatten(0, 1), torch.zeros(y.shape[0] * y.shape[1], dtype=torch.long))
          return Blocks(), torch.randint(0, 1000, (2, 64)), words

      class Convolutions(nn.Module):
          def __init__(self):
              super().__init__()
              self.a, self.b, self.c = nn.Conv2d(3, 32, 3, padding=1), nn.Conv2d(32, 64, 3, padding=1), nn.Linear(64 * 64, 10)
          def forward(self, x):
              return self.c(F.max_pool2d(F.relu(self.b(F.relu(self.a(x)))), 4).flatten(1))

      def convolutions():
          return Convolutions(), torch.randn(2, 3, 32, 32), lambda y: F.cross_entropy(y, torch.zeros(y.shape[0], dtype=torch.long))
      """;

  private record Case(String network, int samples) {}

  private static final List<Case> CASES =
      List.of(new Case("perceptron", 128), new Case("blocks", 4), new Case("convolutions", 64));

  /** Seconds of a step's passes. */
  private record Passes(double forward, double backward) {
    static Passes of(ModelFile file) {
      return new Passes(seconds(file, LayerTimes::forward), seconds(file, LayerTimes::backward));
    }

    private static double seconds(ModelFile file, ToDoubleFunction<LayerTimes> of) {
      return file.profile().times(0).stream().mapToDouble(of).sum();
    }
  }

  @Override
  public String name() {
    return "traced-times";
  }

  @Override
  public String summary() {
    return "Layer times of imported traces.";
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown(
            "network", "pass", "measured, s", "imported, s", "median difference", "all rounds");
    try (TemporaryFolder temporary = TemporaryFolder.create()) {
      Path folder = temporary.path();
      OutputFile.write(folder.resolve("nets.py"), NETWORKS);
      for (Case each : CASES) {
        double[][] seconds = new double[4][ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
          measure(folder, each);
          Passes measured =
              Passes.of(
                  ModelFiles.read(
                      folder.resolve("profile.json"), OptionalInt.empty(), Optional.empty()));
          TracedRun run = TracedRun.read(List.of(folder.resolve("trace.json.gz")), false);
          Passes imported =
              Passes.of(
                  TracedProfile.of(run, each.samples(), each.network(), "trace").orElseThrow());
          seconds[0][round] = measured.forward();
          seconds[1][round] = imported.forward();
          seconds[2][round] = measured.backward();
          seconds[3][round] = imported.backward();
        }
        row(table, each, "forward", seconds[0], seconds[1]);
        row(table, each, "backward", seconds[2], seconds[3]);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Report("Imported traces next to measured layers")
        .paragraph(
            "`Reproduce traced-times`: passes of all layers, as `tools/pipewright_profile.py`"
                + " measures them one by one, and as `import` finds them in the whole steps that the"
                + " same run of the tool records with `--trace`: medians of "
                + ROUNDS
                + " runs, one thread. The tool measures the time of its thread; the profiler's"
                + " clock also counts what other processes take.")
        .table(table);
  }

  private static void row(
      Markdown table, Case of, String pass, double[] measured, double[] imported) {
    double[] differences = new double[ROUNDS];
    Arrays.setAll(differences, round -> imported[round] / measured[round] - 1);
    table.row(
        of.network() + ", " + of.samples(),
        pass,
        Numbers.significant(median(measured)),
        Numbers.significant(median(imported)),
        percent(median(differences)),
        String.join(
            ", ", Arrays.stream(differences).sorted().mapToObj(TracedTimes::percent).toList()));
  }

  private static String percent(double share) {
    return "%+.1f %%".formatted(100 * share);
  }

  private static void measure(Path folder, Case of) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                PYTHON,
                TOOL.toAbsolutePath().toString(),
                "nets.py:" + of.network(),
                "--batch",
                "" + of.samples(),
                "--threads",
                "1",
                "--out",
                "profile.json",
                "--trace",
                "trace.json.gz")
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile());
    try {
      if (builder.start().waitFor() != 0) {
        throw new IllegalStateException(Files.readString(folder.resolve("log")));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
