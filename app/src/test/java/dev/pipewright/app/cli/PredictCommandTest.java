package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.predict.paradl.Strategy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code predict} as users meet it: answers and files. */
class PredictCommandTest {
  static final String NET =
      """
      Dataset|Tiny
      Input|1000x3x16x16
      Model|TinyNet
      CONV1|3x16x16|3x8x3x3|8x14x14|0.001
      RELU|8x14x14|8x8x0x0|8x14x14|0
      CONV2|8x14x14|8x16x3x3|16x12x12|0
      FC|16x12x12|16x10x12x12|10x1x1|0
      """;

  @TempDir Path folder;
  private Path net = Path.of("");
  private Path cluster = Path.of("");

  @BeforeEach
  void files() {
    net = Cli.file(folder, "tiny.net", NET);
    cluster = Cli.file(folder, "small.yaml", Cli.cluster());
  }

  static Cli predicted(Object model, Object on, String... more) {
    List<String> args =
        new ArrayList<>(List.of("predict", model.toString(), "--cluster", on.toString()));
    args.addAll(Arrays.asList(more));
    return Cli.run(args.toArray(new String[0]));
  }

  /** The network has neither tokens nor experts. */
  private static final List<Strategy> SHOWN =
      Stream.of(Strategy.values())
          .filter(strategy ->
              strategy.split() != Strategy.Split.TOKENS
                  && strategy.split() != Strategy.Split.EXPERTS)
          .toList();

  private Cli tiny(String... more) {
    return predicted(net, cluster, more);
  }

  @Test
  void theTableNamesEveryStrategyAndItsNumbers() {
    Cli run = tiny("--batch-per-device", "8", "--devices", "4").ends(0);
    assertEquals("", run.err());
    for (Strategy strategy : Strategy.values()) {
      boolean shown = SHOWN.contains(strategy);
      assertEquals(shown, run.out().contains(strategy.label()), strategy + " in " + run.out());
    }
    assertFalse(run.out().contains("NaN") || run.out().contains("Infinity"), run.out());
  }

  @Test
  void jsonIsOneObjectWithARowForEachStrategyAndCount() {
    JsonNode answer = tiny("--batch-per-device", "8", "--json").ends(0).json();
    assertEquals(SHOWN.size() * 3, answer.get("rows").size()); // 1, 2 and 4 devices
    Set<Integer> devices = new TreeSet<>();
    for (JsonNode row : answer.get("rows")) {
      devices.add(row.get("devices").asInt());
      assertEquals(8L * row.get("devices").asInt(), row.get("global_batch").asLong());
      if (!row.get("iteration_s").isNull()) {
        double iterations = Math.ceil(1000.0 / row.get("global_batch").asLong()); // of the file
        double epoch = row.get("epoch_s").asDouble();
        assertEquals(iterations * row.get("iteration_s").asDouble(), epoch, 1e-9 * epoch);
      }
    }
    assertEquals(Set.of(1, 2, 4), devices);
  }

  /** One device takes the file's millisecond for each sample. */
  @Test
  void aSerialIterationTakesTheTimesOfTheFile() {
    JsonNode row = row("--strategies", "serial", "--devices", "1", "--global-batch", "24");
    assertEquals(0.024, row.get("iteration_s").asDouble(), 1e-12);
    assertEquals(24, row.get("global_batch").asInt());
    assertEquals("serial", row.get("strategy").asString());
  }

  @Test
  void degreesAreThoseAskedFor() {
    String[] degrees = {
      "--strategies",
      "data+tensor+pipeline",
      "--devices",
      "8",
      "--global-batch",
      "16",
      "--json",
      "--tensor",
      "2",
      "--pipeline",
      "2",
      "--data",
      "2",
      "--micro-batch",
      "4"
    };
    JsonNode row =
        predicted("gpt:layers=6,hidden=512,heads=8,sequence=256", "dapple-a:2x4", degrees)
            .ends(0)
            .json()
            .get("rows")
            .get(0);
    assertEquals("2 × t2 × 2 stages, 2 segments", row.get("layout").asString());
    assertEquals(4, row.get("micro_batch_per_rank").asInt());
  }

  private JsonNode row(String... more) {
    List<String> args = new ArrayList<>(Arrays.asList(more));
    args.add("--json");
    JsonNode rows = tiny(args.toArray(new String[0])).ends(0).json().get("rows");
    assertEquals(1, rows.size());
    return rows.get(0);
  }

  @Test
  void optionsReachTheFormulas() {
    String[] usual = {"--strategies", "data+filter", "--devices", "4", "--global-batch", "16"};
    double seconds = row(usual).get("iteration_s").asDouble();
    assertEquals("2 × 2", row(usual).get("layout").asString());
    for (String option : new String[] {"--group 1", "--group 4", "--formulas published"}) {
      String[] more = Arrays.copyOf(usual, usual.length + 2);
      System.arraycopy(option.split(" ", -1), 0, more, usual.length, 2);
      assertTrue(seconds != row(more).get("iteration_s").asDouble(), option + " changes nothing");
    }
    String[] half = Arrays.copyOf(usual, usual.length + 2);
    half[usual.length] = "--memory-reuse";
    half[usual.length + 1] = "0.5";
    long whole = row(usual).get("memory_bytes").asLong();
    assertEquals(whole / 2.0, row(half).get("memory_bytes").asDouble(), 1);
    String[] data = {"--strategies", "data", "--devices", "4", "--global-batch", "16"};
    assertTrue(exchange(data, "leader") > 0);
    assertEquals(exchange(data, "cheapest"), exchange(data, "usual"));
    assertTrue(exchange(data, "hierarchical") != exchange(data, "ring"));
    assertTrue(exchange(data, "cheapest") <= exchange(data, "tree"));
    JsonNode segments =
        row(
            "--strategies",
            "pipeline",
            "--devices",
            "2",
            "--global-batch",
            "16",
            "--segments",
            "2");
    assertEquals("2 stages, 2 segments", segments.get("layout").asString());
    JsonNode epoch = row("--strategies", "serial", "--devices", "1", "--samples", "5");
    assertEquals(
        epoch.get("iteration_s").asDouble(), epoch.get("epoch_s").asDouble(), 1e-12, "one batch");
  }

  private double exchange(String[] options, String algorithm) {
    String[] more = Arrays.copyOf(options, options.length + 2);
    more[options.length] = "--all-reduce";
    more[options.length + 1] = algorithm;
    return row(more).at("/phases/gradient_allreduce_s").asDouble();
  }

  @Test
  void switchesOfAFileSayWhatIsSplit() {
    Path all = Cli.file(folder, "all.lc", "CONV1|1\nRELU|0\nCONV2|1\nFC|1\n");
    Path some = Cli.file(folder, "some.lc", "CONV1|0\nRELU|0\nCONV2|1\nFC|0\n");
    String[] filter = {"--strategies", "filter", "--devices", "2", "--split-layers", "" + all};
    double twice = row(filter).at("/phases/layer_allgather_s").asDouble();
    filter[5] = some.toString();
    double once = row(filter).at("/phases/layer_allgather_s").asDouble();
    assertTrue(0 < once && once < twice, once + " and " + twice);
    assertEquals(16, row(filter).at("/limits/0/max_devices").asInt());
  }

  @Test
  void outWritesTheReportAndItsPictures() throws IOException {
    Path out = folder.resolve("out");
    Cli run = tiny("--batch-per-device", "8", "--out", out.toString(), "--json").ends(0);
    assertTrue(run.json().has("rows"));
    assertTrue(run.err().startsWith("wrote report.html, "), run.err());
    Set<String> names = new TreeSet<>();
    try (var files = Files.list(out)) {
      files
          .map(file -> String.valueOf(file.getFileName()))
          .filter(name -> !name.startsWith(".pipewright")) // say that the folder is ours
          .forEach(names::add);
    }
    assertEquals(
        Set.of("memory.svg", "pareto.svg", "report.html", "scaling.svg", "time.svg"), names);
    for (String name : names) {
      String text = Cli.text(out.resolve(name));
      assertTrue(text.contains(name.endsWith("html") ? "</html>" : "</svg>"), name);
      assertFalse(text.contains("NaN"), name);
    }
    Path foreign = Cli.file(folder, "time.svg", "precious");
    tiny("--out", folder.toString())
        .refusal(2, foreign + " exists and is not Pipewright's; name another folder");
    assertEquals("precious", Cli.text(foreign));
  }

  @Test
  void moreDevicesThanAStrategyCanUseAreARowThatSaysWhy() {
    String[] four = {
      "--devices", "4", "--global-batch", "3", "--json", "--strategies", "serial,data"
    };
    Cli none = tiny(four).ends(1);
    assertEquals(
        "pipewright: serial on 4 devices is impossible, and so is all else that was asked: 4 devices are"
            + " more than 1: one device has the whole network; change --strategies, --devices, --group"
            + " or the batch",
        none.err().strip());
    JsonNode rows = none.json().get("rows");
    assertEquals(
        "4 devices are more than 1: one device has the whole network",
        rows.get(0).get("why_not").asString());
    assertEquals(3, rows.get(1).at("/limits/0/max_devices").asInt());
    assertTrue(rows.get(1).get("iteration_s").isNull());
    four[6] = "serial,filter";
    JsonNode some = tiny(four).ends(0).json().get("rows");
    assertTrue(some.get(0).get("iteration_s").isNull());
    assertTrue(some.get(1).get("iteration_s").asDouble() > 0);
  }

  /** The command of the sentence is run as it stands; recomputation makes room. */
  @Test
  void thePlanThatIsSuggestedWhereNothingFitsIsFoundByTheCommandThatIsShown() {
    Path graph = Cli.file(folder, "a graph.txt", Cli.smallGraph());
    String[] asked = {
      "--profile-batch", "1", "--memory", "100MB", "--memory-reserve", "0.01", "--optimizer", "sgd"
    };
    List<String> more = new ArrayList<>(List.of("--devices", "1", "--global-batch", "32"));
    more.addAll(List.of(asked));
    Cli run = predicted(graph, cluster, more.toArray(String[]::new)).ends(1);
    Matcher command = Pattern.compile("`pipewright (plan [^`]*)`").matcher(run.err());
    assertTrue(command.find(), run.err());
    List<String> words = new ArrayList<>();
    Matcher word = Pattern.compile("'([^']*)'|(\\S+)").matcher(command.group(1));
    while (word.find()) {
      words.add(word.group(1) == null ? word.group(2) : word.group(1));
    }
    assertTrue(words.containsAll(List.of(asked)), words::toString);
    assertTrue(words.contains(graph.toString()), words::toString);
    Cli.run(words.toArray(String[]::new)).ends(0);
  }

  /** Links so slow that whatever is divided takes longer. */
  @Test
  void oneDeviceIsRecommendedWhereMoreAreSlower() {
    String slow = Cli.cluster().replaceAll(", bytes_per_s: \\d+e\\d+}", ", bytes_per_s: 1e4}");
    Path links = Cli.file(folder, "slow.yaml", slow);
    String[] more = {"--global-batch", "8", "--devices", "1,2,4"};
    JsonNode answer = predicted(net, links, Cli.with(more, "--json")).ends(0).json();
    assertEquals(1, answer.at("/recommendation/devices").asInt(), answer::toString);
    double best = answer.at("/recommendation/samples_per_s").asDouble();
    for (JsonNode row : answer.get("rows")) {
      assertTrue(row.path("samples_per_s").asDouble(0) <= best * (1 + 1e-9), row::toString);
    }
    Path out = folder.resolve("out");
    String[] written = Cli.with(Cli.with(more, "--out"), out.toString());
    String text = predicted(net, links, written).ends(0).out().replaceAll("\\s+", " ");
    assertTrue(text.startsWith("Choose one device, which trains "), text);
    String page = Cli.text(out.resolve("report.html"));
    assertTrue(page.contains("Choose one device, which trains "), "no word of it on the page");
    JsonNode fast = tiny(Cli.with(more, "--json")).ends(0).json();
    assertTrue(fast.at("/recommendation/devices").asInt() > 1, fast::toString);
  }

  @Test
  void nothingFitsIsOneSentence() {
    Cli run = tiny("--memory", "1kB", "--devices", "2", "--json").ends(1);
    assertEquals(1, run.err().lines().count(), run.err());
    assertTrue(run.err().startsWith("pipewright: no strategy asked for fits: "), run.err());
    assertTrue(
        run.err()
            .contains("recomputation, accumulation over micro-batches, and tensor parallelism"),
        run.err());
    assertTrue(run.err().contains(" were not considered: `pipewright plan "), run.err());
    for (JsonNode row : run.json().get("rows")) {
      assertFalse(row.get("fits").asBoolean());
    }
    assertEquals(0, run.json().get("crossovers").size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"corrected", "published"})
  void noStrategyThrowsOnAnyNumberOfDevices(String formulas) {
    for (String batch : new String[] {"1", "7", "64"}) {
      Cli run =
          predicted(
              net,
              "abci:5x3",
              "--devices",
              "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
              "--formulas",
              formulas,
              "--global-batch",
              batch,
              "--json");
      run.ends(0);
      for (JsonNode row : run.json().get("rows")) {
        assertTrue(row.at("/limits/0/max_devices").isInt(), row.toString());
        assertEquals(row.get("iteration_s").isNull(), row.has("why_not"), row.toString());
      }
    }
  }

  private static Path reference(String name) {
    @Nullable String place = System.getProperty("reference.dir");
    assumeTrue(place != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(place), "paradl", name);
    assumeTrue(Files.exists(file), "no reference file " + file);
    return file;
  }

  /** They round the number of iterations up where they communicate, not where they compute. */
  @ParameterizedTest
  @ValueSource(strings = {"alexnet_d_lc", "alexnet_d_autoB", "resnet50_d_lc", "resnet50_d_autoB"})
  void dataParallelismIsThatOfTheAuthorsProgram(String id) {
    int compared = 0;
    for (JsonNode run : JsonMapper.shared().readTree(reference("script-results.json").toFile())) {
      if (!run.get("id").asString().equals(id)) {
        continue;
      }
      Path model = reference(run.at("/inputs/net").asString());
      for (JsonNode expected : run.get("results")) {
        JsonNode row = published(model, expected);
        double epoch = 1_280_000;
        double iterations = epoch / row.get("global_batch").asDouble();
        near(expected.get("Tcomp").asDouble(), iterations * row.get("compute_s").asDouble());
        near(
            expected.get("Tcomm").asDouble(),
            Math.ceil(iterations) * row.get("communication_s").asDouble());
        compared++;
      }
    }
    assertTrue(compared >= 10, "rows compared: " + compared);
  }

  private static JsonNode published(Path model, JsonNode expected) {
    boolean single = expected.get("name").asString().equals("single");
    Cli run =
        predicted(
            model,
            "abci",
            "--strategies",
            single ? "serial" : "data",
            "--devices",
            String.valueOf(expected.get("p").asInt()),
            "--global-batch",
            String.valueOf(expected.get("B").asLong()),
            "--formulas",
            "published",
            "--json");
    assertTrue(run.status() <= 1, run.err()); // some need more memory than there is
    return run.json().get("rows").get(0);
  }

  private static void near(double expected, double actual) {
    assertEquals(expected, actual, 1e-9 * expected);
  }
}
