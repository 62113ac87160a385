package dev.pipewright.app.cli;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.app.cli.schedule.ScheduleNames;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Answers in JSON, as recorded: a number changes only where a commit says why. {@code
 * -Dgolden=record} records them anew. The files in {@code plans} are of the first version of the
 * format and are never recorded again: what they say must stay readable.
 */
final class GoldenTest {
  private static final Path FOLDER = Path.of("src/test/resources/golden");
  private static final boolean RECORD = "record".equals(System.getProperty("golden"));
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** Two roads to a number may add in another order. */
  private static final double TOLERANCE = 1e-9;

  /** Values that depend on the machine and its load. */
  private static final Set<String> MEASURED = Set.of("planning_s", "generation_s");

  private static final String GPT = "gpt:layers=4,hidden=512,heads=8,sequence=256,vocabulary=8192";

  static Stream<String> names() {
    return cases().keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("names")
  void answersAsRecorded(String name) throws IOException {
    Cli cli = Cli.run(requireNonNull(cases().get(name)).toArray(new String[0]));
    Path file = FOLDER.resolve("answers").resolve(name + ".json");
    JsonNode answer = JSON.readTree(answer(cli));
    List<String> differences = new ArrayList<>();
    if (Files.exists(file)) {
      compare("", JSON.readTree(Files.readString(file)), answer, differences);
    } else {
      differences.add("no recorded answer");
    }
    if (RECORD && !differences.isEmpty()) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, answer(cli));
    } else {
      assertEquals(List.of(), differences.stream().limit(20).toList());
    }
  }

  @Test
  void everyRecordedAnswerIsAskedFor() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER.resolve("answers"))) {
      Set<String> recorded = new TreeSet<>();
      files.forEach(f -> recorded.add(f.getFileName().toString().replace(".json", "")));
      assertEquals(new TreeSet<>(cases().keySet()), recorded);
    }
  }

  private static Map<String, List<String>> cases() {
    Map<String, List<String>> cases = new LinkedHashMap<>();
    Map<String, String> models =
        Map.of("chain", FOLDER + "/chain.txt --profile-batch 2", "gpt", GPT, "vgg-16", "vgg-16");
    Map<String, String> clusters =
        Map.of("small", FOLDER + "/small.yaml", "dapple-a", "dapple-a:2x2");
    for (String planner : PlannerCatalog.names().toList()) {
      if (planner.equals("placement")) {
        continue;
      }
      models.forEach((model, modelFlags) ->
          clusters.forEach((cluster, clusterFlag) ->
              add(
                  cases,
                  "plan-" + planner + "-" + model + "-" + cluster,
                  "plan %s --cluster %s --global-batch 32 --planner %s --json"
                      .formatted(modelFlags, clusterFlag, planner))));
    }
    for (String flags :
        List.of(
            "--schedule gpipe",
            "--schedule 1f1b-b",
            "--recompute full",
            "--recompute except-last",
            "--recompute none",
            "--stages 3",
            "--micro-batch 4",
            "--memory 1e9",
            "--memory 3e8",
            "--cost-model dapple",
            "--cost-model dapple-published",
            "--cost-model dapple-repo",
            "--precision fp16",
            "--optimizer momentum",
            "--objective memory",
            "--objective throughput")) {
      add(
          cases,
          "plan" + flags.replaceAll("[ -]+", "-"),
          "plan " + GPT + " --cluster dapple-a:2x2 --global-batch 32 " + flags + " --json");
    }
    ScheduleCatalog.entries().stream()
        .filter(ScheduleEntry::isSynchronousPipeline)
        .map(ScheduleEntry::name)
        .forEach(schedule ->
            add(
                cases,
                "plan-any-schedule-" + schedule,
                "plan %s --cluster dapple-a:2x2 --global-batch 32 --stages 4 --schedule %s --json"
                    .formatted(GPT, schedule)));
    add(
        cases,
        "plan-capture-gpt-untied", // whose table and head are divided by words
        "plan "
            + GPT.replace("gpt", "gpt-untied")
            + " --cluster dapple-a:2x2 --global-batch 32 --planner capture --json");
    for (String flags : List.of("", "--non-contiguous", "--linearize")) {
      add(
          cases,
          "plan-placement" + flags.replaceAll("-+", "-"),
          "plan " + FOLDER + "/operators.json --planner placement " + flags + " --json");
    }
    for (String name : scheduleNames()) {
      for (String times : List.of("1,1,1,0", "1,1.5,0.5,0.25")) {
        add(
            cases,
            "schedule-" + name + (times.equals("1,1,1,0") ? "" : "-timed"),
            "schedule %s --stages 4 --micro-batches 8 --times %s --json".formatted(name, times));
      }
    }
    for (String model : List.of("resnet-50", "vgg-16", "cosmoflow-128", "bert-base")) {
      for (String formulas : List.of("corrected", "published")) {
        add(
            cases,
            "predict-" + model + "-" + formulas,
            "predict %s --cluster abci --strategies all --devices 4,16 --formulas %s --json"
                .formatted(model, formulas));
      }
    }
    add(
        cases,
        "predict-gpt-recomputing",
        "predict gpt:layers=8,hidden=1024,heads=16,sequence=512 --cluster dapple-a:2x4"
            + " --strategies data,sequence,data+pipeline,data+tensor+pipeline --devices 8"
            + " --global-batch 64 --micro-batch 4 --recompute auto --memory 4e9 --json");
    add(
        cases,
        "predict-chain",
        "predict "
            + models.get("chain")
            + " --cluster "
            + FOLDER
            + "/small.yaml --global-batch 32 --json");
    for (String planner : plans()) {
      String plan = FOLDER + "/plans/" + planner + ".json";
      String model =
          planner.equals("placement") ? " --model " + FOLDER + "/operators.json --json" : " --json";
      add(cases, "check-" + planner, "check " + plan + model);
      add(cases, "simulate-" + planner, "simulate " + plan + model);
    }
    add(
        cases,
        "simulate-auto-jitter",
        "simulate " + FOLDER + "/plans/auto.json --jitter 0.1 --runs 20 --json");
    add(
        cases,
        "plan-evaluate",
        "plan %s --cluster dapple-a:2x2 --global-batch 32 --evaluate %s/plans/straight.json --json"
            .formatted(GPT, FOLDER));
    add(cases, "cyclic-memory", "cyclic-memory " + FOLDER + "/curve.csv --workers 4,8 --json");
    add(cases, "calibrate", "calibrate " + FOLDER + "/timings.csv --json");
    add(cases, "models", "models --json");
    add(cases, "clusters", "clusters --json");
    return cases;
  }

  /** The planners whose plans are kept. */
  private static List<String> plans() {
    try (Stream<Path> files = Files.list(FOLDER.resolve("plans"))) {
      return files
          .map(file -> String.valueOf(file.getFileName()).replace(".json", ""))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> scheduleNames() {
    return Stream.concat(ScheduleNames.all().stream(), ScheduleNames.forms().stream()).toList();
  }

  private static void add(Map<String, List<String>> cases, String name, String command) {
    cases.put(name, List.of(command.strip().split(" +")));
  }

  /** What was printed, or the refusal. */
  private static String answer(Cli cli) {
    return cli.status() == 0 || !cli.out().isEmpty()
        ? cli.out()
        : JSON.writerWithDefaultPrettyPrinter()
            .writeValueAsString(Map.of("status", cli.status(), "refusal", cli.err().strip()));
  }

  private static void compare(String at, JsonNode old, JsonNode now, List<String> differences) {
    if (old.isNumber() && now.isNumber()) {
      double a = old.doubleValue();
      double b = now.doubleValue();
      if (Math.abs(a - b) > TOLERANCE * Math.max(Math.abs(a), Math.abs(b))) {
        differences.add(at + ": " + old + " -> " + now);
      }
    } else if (old.isObject() && now.isObject()) {
      Set<String> names = new TreeSet<>(old.propertyNames());
      names.addAll(now.propertyNames());
      names.removeAll(MEASURED);
      for (String name : names) {
        if (!old.has(name) || !now.has(name)) {
          differences.add(at + "/" + name + ": " + (old.has(name) ? "gone" : "new"));
        } else {
          compare(at + "/" + name, old.get(name), now.get(name), differences);
        }
      }
    } else if (old.isArray() && now.isArray() && old.size() == now.size()) {
      for (int i = 0; i < old.size(); i++) {
        compare(at + "/" + i, old.get(i), now.get(i), differences);
      }
    } else if (!old.equals(now)) {
      differences.add(at + ": " + old + " -> " + now);
    }
  }
}
