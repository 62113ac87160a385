package dev.pipewright.app.cli;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.stream.Stream;

/**
 * Runs the commands that are used most, so that the launcher can archive the classes that they load
 * (class data sharing) for a quick start.
 */
public final class ClassDataWarmUp {
  private ClassDataWarmUp() {}

  public static void main(String[] args) {
    PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
    String[] plan = {"plan", "bert-48", "--cluster", "dapple-a", "--global-batch", "64"};
    run(nowhere, plan);
    run(nowhere, with(plan, "--planner", "dapple"));
    run(nowhere, "predict", "resnet-50", "--cluster", "abci", "--devices", "16,64");
    run(nowhere, "schedule", "1f1b", "--stages", "4", "--micro-batches", "8");
    run(nowhere, "schedule", "interleaved", "--stages", "2", "--micro-batches", "4", "--json");
    run(nowhere, "--help");
    run(nowhere, "predict", "vgg-16", "--cluster", "abci", "--devices", "16", "--json");
  }

  private static String[] with(String[] line, String... more) {
    return Stream.concat(Stream.of(line), Stream.of(more)).toArray(String[]::new);
  }

  private static void run(PrintWriter nowhere, String... line) {
    Main.run(nowhere, nowhere, line);
  }
}
