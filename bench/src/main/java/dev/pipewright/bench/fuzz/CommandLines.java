package dev.pipewright.bench.fuzz;

import dev.pipewright.app.cli.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/** Command lines of each command's own flags, with values that make sense or do not. */
final class CommandLines {
  /**
   * A command line of each command, to which flags are added. Those that would start workers are
   * refused last for a folder or host that is not there.
   */
  static final Map<String, String> COMMANDS = new LinkedHashMap<>();

  static {
    COMMANDS.put("plan", "plan GRAPH --cluster CLUSTER --profile-batch 2 --global-batch 8");
    COMMANDS.put("predict", "predict GRAPH --cluster CLUSTER --profile-batch 2 --devices 1,2");
    COMMANDS.put("calibrate", "calibrate CURVE --cluster CLUSTER");
    COMMANDS.put("cyclic-memory", "cyclic-memory CURVE");
    COMMANDS.put("import", "import CURVE");
    COMMANDS.put("simulate", "simulate PLAN");
    COMMANDS.put("schedule", "schedule 1f1b --stages 2 --micro-batches 4");
    COMMANDS.put("check", "check PLAN");
    COMMANDS.put("train", "train mlp:layers=3,hidden=16 --global-batch 8 --data mnist:nowhere");
    COMMANDS.put("profile", "profile mlp:layers=3,hidden=16 --data mnist:nowhere");
    COMMANDS.put(
        "compare",
        "compare mlp:layers=3,hidden=16 --cluster CLUSTER --global-batch 8 --data mnist:nowhere");
    COMMANDS.put("join", "join 127.0.0.1:1");
    COMMANDS.put("launch", "launch slurm");
    COMMANDS.put("models", "models");
    COMMANDS.put("clusters", "clusters");
  }

  private static final Pattern OPTION = Pattern.compile("--[a-z][-a-z]+");
  private static final List<String> WORDS =
      List.of(
          "",
          ",",
          ":",
          "a",
          "all",
          "none",
          "auto",
          "1f1b",
          "gpipe",
          "zb-h1",
          "data",
          "dapple",
          "pipedream",
          "madpipe",
          "1,1,1,0",
          "0,0,0,0",
          "2:1",
          "1,2,4",
          "filter:2",
          "synthetic",
          "16GiB",
          "1e9",
          "@/tmp",
          "a\0b",
          "-",
          "--",
          "--json",
          "x".repeat(5000),
          "..",
          "/",
          "/dev/null",
          "é",
          "%s",
          "GRAPH",
          "PROFILE",
          "CLUSTER",
          "PLAN",
          "CURVE",
          "PEAKS",
          "NET");
  private static final Map<String, List<String>> OPTIONS = new ConcurrentHashMap<>();

  private CommandLines() {}

  static List<String> of(String command, Seeds seeds, SplittableRandom random) {
    List<String> options = OPTIONS.computeIfAbsent(command, CommandLines::options);
    List<String> words = new ArrayList<>(seeds.filled(COMMANDS.getOrDefault(command, command)));
    for (int count = random.nextInt(1, 4); count > 0 && !options.isEmpty(); count--) {
      String option = options.get(random.nextInt(options.size()));
      int before = words.indexOf(option);
      List<String> values = random.nextBoolean() ? Mutation.NUMBERS : WORDS;
      String value = seeds.filled(values.get(random.nextInt(values.size())) + " .").get(0);
      if (before >= 0 && before + 1 < words.size()) {
        words.set(before + 1, value);
      } else {
        words.add(option);
        if (random.nextInt(8) > 0) {
          words.add(value);
        }
      }
    }
    if (random.nextInt(6) == 0 && words.size() > 1) { // often a model or file
      String value = WORDS.get(random.nextInt(WORDS.size()));
      words.set(random.nextInt(1, words.size()), seeds.filled(value + " .").get(0));
    }
    if (random.nextInt(6) == 0) {
      words.remove(random.nextInt(words.size()));
    }
    return words;
  }

  /** Those that the command's help names, but for what writes files or waits. */
  private static List<String> options(String command) {
    StringWriter out = new StringWriter();
    Main.run(new PrintWriter(out), new PrintWriter(new StringWriter()), command, "--help");
    return OPTION
        .matcher(out.toString())
        .results()
        .map(found -> found.group())
        .distinct()
        .filter(option ->
            !List.of(
                    "--out",
                    "--debug",
                    "--time-limit",
                    "--data",
                    "--csv",
                    "--svg",
                    "--html",
                    "--trace",
                    "--csv-transfers",
                    "--emulate")
                .contains(option))
        .toList();
  }
}
