package dev.pipewright.bench.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Whether threads of one process compute convolutions rightly: {@link ConcurrentConvolutions} as
 * workers that are threads have the library, and with oneDNN for comparison. Each in a process of
 * its own, because oneDNN may end it.
 */
public final class ThreadConvolutions implements Reproduction {
  private static final int SHAPES = 20_000;
  private static final int THREADS = 3;

  @Override
  public String name() {
    return "thread-convolutions";
  }

  @Override
  public String summary() {
    return "Convolutions of several threads at a time.";
  }

  @Override
  public Report run(Reference reference) {
    if (!Files.isDirectory(TrainingRuns.LIBRARIES)) {
      throw new IllegalStateException(
          "no libtorch in "
              + TrainingRuns.LIBRARIES
              + "; run `./pipewright train mlp-8x1024 --global-batch 64 --steps 1` first");
    }
    Markdown table = new Markdown("library", "instructions", "wrong", "exit status", "seconds");
    row(table, "as workers that are threads have it", "as-trained", "ALL");
    row(table, "with oneDNN", "onednn", "ALL");
    row(table, "with oneDNN", "onednn", "AVX2");
    return new Report("Convolutions of several threads")
        .paragraph(
            String.format(
                Locale.ROOT,
                "`Reproduce thread-convolutions`: %,d random convolutions (1×1 to 5×5, strided,"
                    + " dilated, grouped, two and three axes; seed %d), each met by %d threads at"
                    + " once, forward and backward. Wrong: shapes whose output or gradients are not"
                    + " those of one thread, bit by bit. A process that a signal ended has status"
                    + " 128 and the signal.",
                SHAPES,
                ConcurrentConvolutions.SEED,
                THREADS))
        .table(table);
  }

  private static void row(Markdown table, String what, String library, String instructions) {
    long start = System.nanoTime();
    List<String> lines = new ArrayList<>();
    int status = run(library, instructions, lines);
    table.row(
        what,
        instructions,
        status == 0 ? lines.stream().filter(line -> line.startsWith("wrong")).count() : "–",
        status,
        Numbers.fixed((System.nanoTime() - start) / 1e9, 0));
  }

  private static int run(String library, String instructions, List<String> lines) {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-XX:-CreateCoredumpOnCrash",
            "-cp",
            System.getProperty("java.class.path")
                + File.pathSeparator
                + TrainingRuns.LIBRARIES.resolve("*"),
            ConcurrentConvolutions.class.getName(),
            Integer.toString(SHAPES),
            Integer.toString(THREADS),
            library);
    builder.environment().put("ONEDNN_MAX_CPU_ISA", instructions);
    builder.environment().put("OPENBLAS_NUM_THREADS", "1");
    builder.environment().put("OMP_NUM_THREADS", "1");
    try {
      Process process = builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
      lines.addAll(new String(process.getInputStream().readAllBytes(), UTF_8).lines().toList());
      return process.waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
