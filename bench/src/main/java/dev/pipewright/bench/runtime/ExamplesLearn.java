package dev.pipewright.bench.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.runtime.launch.TemporaryFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * Whether networks learn with what `train` takes where its user says nothing: the examples of
 * README.md and of `train --help` as they stand, and a small network of each kind.
 */
public final class ExamplesLearn implements Reproduction {
  private static final List<String> KINDS =
      List.of(
          "mlp:layers=4,hidden=256,in=256,classes=10 --global-batch 32 --steps 40",
          "mlp:layers=4,hidden=256,in=256,classes=10 --stages 2 --schedule pipedream"
              + " --global-batch 32 --steps 40",
          "mlp:layers=4,hidden=256,in=256,classes=10 --stages 2 --schedule cyclic-v2"
              + " --global-batch 32 --steps 40",
          "cnn-64-128-256:size=16,classes=10 --global-batch 32 --steps 40",
          "resnet-18:size=32,classes=10,width=16 --global-batch 16 --steps 40",
          "vgg-16:size=32,classes=10 --global-batch 16 --steps 120",
          "vgg-16:size=32,classes=10 --global-batch 4 --steps 250",
          "vit:layers=4,hidden=64,heads=4,patch=8,size=32,classes=10 --global-batch 16 --steps 40",
          "gpt:layers=4,hidden=64,heads=4,sequence=32,vocabulary=64 --global-batch 16 --steps 60",
          "gpt-untied:layers=4,hidden=64,heads=4,sequence=32,vocabulary=64 --global-batch 16"
              + " --steps 60",
          "bert:layers=4,hidden=64,heads=4,sequence=32,vocabulary=64 --global-batch 16 --steps 60",
          "gnmt:layers=4,hidden=64,steps=12,vocabulary=64 --global-batch 16 --steps 120",
          "cosmoflow:size=32,outputs=4 --global-batch 16 --steps 60");

  @Override
  public String name() {
    return "examples-learn";
  }

  @Override
  public String summary() {
    return "Losses of the examples' training runs.";
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown("example", "optimizer", "rate", "steps", "first loss", "last loss");
    List<String> warnings = new ArrayList<>();
    Stream.of(readme(), help(), KINDS)
        .flatMap(List::stream)
        .distinct()
        .forEach(example -> {
          List<String> command = new ArrayList<>(List.of("./pipewright", "train"));
          command.addAll(List.of(example.split(" ")));
          command.add("--json");
          try (TemporaryFolder folder = TemporaryFolder.create()) {
            int out = command.indexOf("--out");
            if (out >= 0) {
              command.set(out + 1, folder.path().resolve("run").toString());
            }
            JsonNode answer = Answers.of(command);
            row(table, example, answer);
            answer
                .path("warnings")
                .forEach(warning -> warnings.add(example + ": " + warning.asString()));
          }
          System.err.println("ran train " + example);
        });
    return new Report("Examples learn")
        .paragraph(
            "`Reproduce examples-learn`: `train` with the optimizer and the learning rate that it"
                + " takes by itself. Warnings: "
                + (warnings.isEmpty() ? "none" : String.join("; ", warnings))
                + ".")
        .table(table);
  }

  private static void row(Markdown table, String example, JsonNode answer) {
    table.row(
        "`" + example + "`",
        answer.at("/optimizer/name").asString(),
        answer.at("/optimizer/learning_rate").asDouble(),
        answer.get("steps").asInt(),
        Numbers.significant(answer.at("/loss/first").asDouble()),
        Numbers.significant(answer.at("/loss/last").asDouble()));
  }

  private static List<String> readme() {
    try {
      return examples(Files.readAllLines(Path.of("README.md")), "./pipewright train ");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> help() {
    try {
      Process process = new ProcessBuilder("./pipewright", "train", "--help").start();
      String text = new String(process.getInputStream().readAllBytes(), UTF_8);
      // Long lines are folded, and go on at the margin.
      return examples(text.replaceAll("\n(?=[^ \n])", " ").lines().toList(), "  pipewright train ");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Those that need no files of the reader's. */
  private static List<String> examples(List<String> lines, String beginning) {
    return lines.stream()
        .filter(line -> line.startsWith(beginning))
        .map(line -> line.substring(beginning.length()).strip())
        .filter(line -> !line.contains("PLAN.json") && !line.contains("DIR"))
        .toList();
  }
}
