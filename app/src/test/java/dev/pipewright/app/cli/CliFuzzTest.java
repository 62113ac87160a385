package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.io.TempDir;

/** Files broken at random: whatever they say, the program itself does not fail. */
class CliFuzzTest {
  private static final String WORDS = "0123456789-.eE,:;[]{}\"\\ \t\n\0";

  @TempDir Path folder;

  @RepeatedTest(100)
  void aBrokenFileNeverBreaksTheProgram(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    Path graph = Cli.file(folder, "small.txt", Cli.smallGraph());
    Path cluster = Cli.file(folder, "small.yaml", Cli.cluster());
    Path plan = Cli.file(folder, "plan.json", Cli.plan());
    String[] batch = {"--profile-batch", "2", "--global-batch", "16"};

    survives(Cli.plan(mutated(graph, random), cluster, batch));
    Path badCluster = mutated(cluster, random);
    survives(Cli.plan(graph, badCluster, batch));
    Path badPlan = mutated(plan, random);
    String[] made = {
      "--model", graph.toString(), "--profile-batch", "2", "--cluster", cluster.toString()
    };
    survives(with("simulate", badPlan, made));
    survives(with("check", badPlan, made));
  }

  private static Cli with(String command, Path plan, String[] more) {
    List<String> args = new ArrayList<>(List.of(command, plan.toString()));
    args.addAll(List.of(more));
    return Cli.run(args.toArray(new String[0]));
  }

  private static void survives(Cli run) {
    assertTrue(run.status() >= 0 && run.status() <= 2, run.err());
    assertFalse(run.err().contains("Exception") || run.err().contains("\tat "), run.err());
    if (run.status() == 2) {
      run.refusal(2);
    }
  }

  /** A copy with one to three of its bytes or lines deleted, doubled or replaced. */
  private Path mutated(Path file, SplittableRandom random) {
    byte[] bytes = Cli.text(file).getBytes(StandardCharsets.UTF_8);
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      bytes = random.nextBoolean() ? byByte(bytes, random) : byLine(bytes, random);
    }
    return Cli.file(folder, "bad-" + file.getFileName(), bytes);
  }

  private static byte[] byByte(byte[] bytes, SplittableRandom random) {
    int at = random.nextInt(Math.max(1, bytes.length));
    int way = random.nextInt(4);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < bytes.length; i++) {
      if (i != at) {
        out.write(bytes[i]);
      } else if (way == 1) {
        out.write(bytes[i]);
        out.write(bytes[i]);
      } else if (way == 2) {
        out.write(random.nextInt(256));
      } else if (way == 3) {
        out.write(WORDS.charAt(random.nextInt(WORDS.length())));
      }
    }
    return out.toByteArray();
  }

  private static byte[] byLine(byte[] bytes, SplittableRandom random) {
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    List<String> lines = new ArrayList<>(text.lines().toList());
    int at = random.nextInt(Math.max(1, lines.size()));
    if (!lines.isEmpty()) {
      switch (random.nextInt(3)) {
        case 0 -> lines.remove(at);
        case 1 -> lines.add(at, lines.get(at));
        default -> lines.set(at, lines.get(random.nextInt(lines.size())));
      }
    }
    return String.join("\n", lines).getBytes(StandardCharsets.ISO_8859_1);
  }
}
