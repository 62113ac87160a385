package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every mistake gets one sentence: where, what, and what would be right. */
class CliBadInputTest {
  private static final long GIB = 1L << 30;

  @TempDir Path folder;
  private Path graph = Path.of("");
  private Path cluster = Path.of("");

  @BeforeEach
  void files() {
    graph = Cli.file(folder, "small.txt", Cli.smallGraph());
    cluster = Cli.file(folder, "small.yaml", Cli.cluster());
  }

  private static Cli planned(Path model, Object on) {
    return Cli.plan(model, on, "--profile-batch", "2", "--global-batch", "16");
  }

  private Cli planned(String text) {
    return planned(Cli.file(folder, "bad.txt", text), "dapple-a");
  }

  private Cli evaluated(String plan, String... more) {
    Path file = Cli.file(folder, "bad.json", plan);
    String[] args = {
      "plan",
      graph.toString(),
      "--cluster",
      cluster.toString(),
      "--profile-batch",
      "2",
      "--global-batch",
      "16",
      "--evaluate",
      file.toString()
    };
    String[] all = java.util.Arrays.copyOf(args, args.length + more.length);
    System.arraycopy(more, 0, all, args.length, more.length);
    return Cli.run(all);
  }

  @Test
  void aTruncatedGraphIsRefusedAtItsLastLine() {
    String good = Cli.smallGraph();
    planned(good.substring(0, good.indexOf("parameter_size=8000000") + 9))
        .refusal(2, "bad.txt:2: ");
  }

  @Test
  void aNegativeCostIsRefused() {
    planned(Cli.smallGraph().replaceFirst("forward_compute_time=2", "forward_compute_time=-2"))
        .refusal(2, "bad.txt:1: ", "-2");
  }

  @Test
  void aCostThatIsNoNumberIsRefused() {
    planned(Cli.smallGraph().replaceFirst("forward_compute_time=2", "forward_compute_time=NaN"))
        .refusal(2, "bad.txt:1: ", "NaN");
  }

  @Test
  void aCycleIsRefusedAtAnEdge() {
    planned(Cli.smallGraph() + "\tnode5 -- node2\n").refusal(2, "bad.txt:12: ", "cycle");
  }

  @Test
  void anUnknownKeyOfAProfileIsRefused() {
    Path file =
        Cli.file(
            folder,
            "bad.json",
            "{\n\"format\": \"pipewright-profile\",\n\"version\": 1,\n\"layerz\": []}");
    planned(file, "dapple-a").refusal(2, "bad.json:4: ", "layerz", "did you mean");
  }

  @Test
  void anUnknownKeyOfAClusterIsRefused() {
    Path bad = Cli.file(folder, "bad.yaml", Cli.cluster().replace("groups: 2", "group: 2"));
    planned(graph, bad).refusal(2, "bad.yaml:", "\"group\"", "did you mean \"groups\"?");
  }

  @Test
  void aClusterWithoutDevicesIsRefused() {
    Path none =
        Cli.file(folder, "bad.yaml", Cli.cluster().replace("\n  - {kind: tiny, count: 4}", " []"));
    planned(graph, none).refusal(2, "bad.yaml:15: ", "devices is empty");
    Path zero = Cli.file(folder, "bad.yaml", Cli.cluster().replace("count: 4", "count: 0"));
    planned(graph, zero).refusal(2, "bad.yaml:16: ", ">= 1");
  }

  @Test
  void aMicroBatchThatDoesNotDivideIsRefusedWithOneThatDoes() {
    Cli.plan("bert-48", "dapple-a", "--global-batch", "64", "--micro-batch", "7")
        .refusal(2, "--micro-batch: 7 does not divide the global batch 64", "like 8");
  }

  @Test
  void aPlanOfAnotherGlobalBatchIsRefused() {
    evaluated(Cli.plan().replace("\"micro_batches\": 8", "\"micro_batches\": 9"))
        .refusal(2, "bad.json: ", "18 samples", "--global-batch 18");
  }

  @Test
  void aPlanOfMoreStagesThanLayersIsRefused() {
    evaluated(
            Cli.plan()
                .replace(
                    "\"devices\": [1]}",
                    "\"devices\": [1]}, {\"layers\": [6, 6], \"devices\": [2]}"))
        .refusal(2, "bad.json: stages[2]", "layers 0..5", "end the last stage at 5");
    evaluated(Cli.plan().replace("[3, 5]", "[3, 4]")).refusal(2, "stages[1]", "layers 0..5");
  }

  @Test
  void aPlanThatNamesADeviceTwiceIsRefused() {
    evaluated(Cli.plan().replace("[1]", "[0]")).refusal(2, "bad.json:5: ", "device 0");
    evaluated(Cli.plan().replace("[1]", "[1, 1]")).refusal(2, "bad.json:7: ", "[1, 1]");
  }

  @Test
  void aPlanOnADeviceOutsideTheClusterIsRefused() {
    evaluated(Cli.plan().replace("[1]", "[4]"))
        .refusal(2, "stages[1].devices names 4", "devices 0..3");
  }

  @Test
  void aPlanTooLargeToSimulateIsRefused() {
    Path file =
        Cli.file(
            folder,
            "large.json",
            Cli.plan().replace("\"micro_batches\": 8", "\"micro_batches\": 2000000000"));
    for (String command : new String[] {"check", "simulate"}) {
      Cli.run(command, file.toString(), "--model", "bert-48", "--cluster", "dapple-a")
          .refusal(2, "large.json: 4000000000 samples");
    }
  }

  @Test
  void aLayerLargerThanEveryDeviceIsNamedWithTheMemoryThatWouldDo() {
    Path model = Cli.file(folder, "large.txt", Cli.graph(4_000_000, GIB, 4_000_000, 4_000_000));
    String reason =
        withPlanner(model, "dapple")
            .refusal(1, "nothing fits: layer 1 (layer_1) alone needs 4.01 GiB");
    assertSmallest(model, "dapple", reason);
  }

  /** Sharded states need no device that holds the layer. */
  @Test
  void aLayerLargerThanEveryDeviceMayBeSharded() {
    Path model = Cli.file(folder, "large.txt", Cli.graph(4_000_000, GIB, 4_000_000, 4_000_000));
    String reason = withPlanner(model, "auto").refusal(1, "nothing fits: the devices have");
    assertSmallest(model, "auto", reason);
  }

  @Test
  void whereNothingFitsTheSmallestMemoryIsNamed() {
    Path model =
        Cli.file(
            folder, "large.txt", Cli.graph(GIB / 8, GIB / 8, GIB / 8, GIB / 8, GIB / 8, GIB / 8));
    for (String planner : new String[] {"dapple", "auto"}) {
      String reason = withPlanner(model, planner).refusal(1, "nothing fits", "more devices");
      assertSmallest(model, planner, reason);
    }
  }

  /** The amount that the reason names suffices, and 5 % less does not. */
  private void assertSmallest(Path model, String planner, String reason) {
    Matcher amount =
        Pattern.compile("; ([\\d.]+) (\\w+) on each of the 4 would do").matcher(reason);
    assertEquals(true, amount.find(), reason);
    String[] enough = {"--memory", amount.group(1) + amount.group(2)};
    withPlanner(model, planner, enough).ends(0);
    double less = 0.95 * Double.parseDouble(amount.group(1));
    withPlanner(model, planner, "--memory", less + amount.group(2)).refusal(1, "nothing fits");
  }

  private Cli withPlanner(Path model, String planner, String... more) {
    List<String> all =
        new ArrayList<>(
            List.of("--profile-batch", "2", "--global-batch", "16", "--planner", planner));
    all.addAll(List.of(more));
    return Cli.plan(model, cluster, all.toArray(String[]::new));
  }

  @Test
  void oneLayerTooManyIsRefusedBeforeWhatFollowsIsRead() {
    StringBuilder text = new StringBuilder();
    for (int i = 1; i <= 100_001; i++) {
      text.append("node").append(i).append(" -- l -- forward_compute_time=1,");
      text.append(" backward_compute_time=1, activation_size=1, parameter_size=1\n");
    }
    planned(text + "no layer\n").refusal(2, "bad.txt:100001: ", "100,000 layers");
  }

  /** What blocks of layers express is planned; of the rest a sentence says what is missing. */
  @Test
  void aConfigurationOfHuggingFaceIsPlannedWhereItsBlocksAreKnown() {
    Path gpt =
        Cli.file(
            folder,
            "config.json",
            "{\"architectures\": [\"GPT2LMHeadModel\"], \"model_type\": \"gpt2\", \"n_embd\": 64,"
                + " \"n_head\": 4, \"n_layer\": 3, \"n_positions\": 32, \"vocab_size\": 100}");
    String sized = "gpt:layers=3,hidden=64,heads=4,sequence=32,vocabulary=100";
    String[] args = {"--global-batch", "16", "--json"};
    assertEquals(
        Cli.plan(sized, "dapple-a:1x2", args).ends(0).json().at("/objective/value"),
        Cli.plan(gpt, "dapple-a:1x2", args).ends(0).json().at("/objective/value"));
    Path t5 =
        Cli.file(
            folder, "t5.json", "{\"model_type\": \"t5\", \"vocab_size\": 9, \"num_layers\": 2}");
    Cli.plan(t5.toString(), "dapple-a:1x2", "--global-batch", "2").ends(0);
    String layout = " --cluster h100:1x8 --tensor 2 --pipeline 2 --global-batch 8";
    Cli.run(("predict " + t5 + layout).split(" ", -1))
        .refusal(2, "the network has an encoder; give one of a decoder only, or plan it");
    Path tied =
        Cli.file(
            folder,
            "tied.json",
            "{\"model_type\": \"deepseek_v3\", \"num_nextn_predict_layers\": 1, \"tie_word_embeddings\": true}");
    planned(tied, "dapple-a")
        .refusal(
            2,
            "multi-token prediction whose head reads the embedding's table cannot be planned layer by layer yet; `pipewright predict` with --tensor and --pipeline");
    String[] levels = {"--planner", "pipedream", "--levels", "2", "--bandwidths", "1e9"};
    Cli.run(
            "plan",
            gpt.toString(),
            levels[0],
            levels[1],
            levels[2],
            levels[3],
            levels[4],
            levels[5])
        .refusal(2, "config.json: is a Hugging Face config (gpt2), which holds no times of layers");
  }

  @Test
  void modelsAndClustersAreFilteredByAWord() {
    String models = Cli.run("models", "ResNet").ends(0).out();
    assertTrue(models.lines().skip(1).allMatch(line -> line.startsWith("  resnet-")), models);
    assertEquals(6, models.lines().count(), models);
    assertEquals(5, Cli.run("models", "gpt-2", "--json").ends(0).json().get("models").size());
    assertTrue(Cli.run("models", "bert-24").ends(0).out().contains("\n  bert-24 "));
    String clusters = Cli.run("clusters", "h100").ends(0).out();
    assertTrue(clusters.contains("dgx-h100 ") && clusters.contains("h100-80g-8x3200g "), clusters);
    assertFalse(clusters.contains("dapple"), clusters);
    assertEquals(5, Cli.run("clusters", "V100", "--json").ends(0).json().get("clusters").size());
  }

  @Test
  void emptyNamesAreRefused() {
    Cli.plan("", "dapple-a", "--global-batch", "64").refusal(2, "no model ''; give a file");
    Cli.plan("bert-48", "", "--global-batch", "64").refusal(2, "no cluster ''; give a YAML file");
    Cli.plan("bert-48", "dapple-a", "--global-batch", "64", "--out", "")
        .refusal(2, "--out: is empty; give a path");
    Cli.plan("bad\0name", "dapple-a", "--global-batch", "64").refusal(2, "the model 'bad");
  }

  @Test
  void aStackTraceComesOnlyWithDebug() {
    Cli run = Cli.plan("bert-48", "nowhere", "--global-batch", "64", "--debug").ends(2);
    assertEquals(true, run.err().contains("\tat ") && run.err().contains("pipewright: no cluster"));
  }

  @Test
  void filesThatAreNoModelsAreRefused() {
    planned(Cli.file(folder, "empty.txt", ""), "dapple-a").refusal(2, "empty.txt:1: ", "is empty");
    planned(folder, "dapple-a").refusal(2, folder + ": is a directory");
    byte[] bytes = new byte[4096];
    new java.util.Random(1).nextBytes(bytes);
    planned(Cli.file(folder, "garbage.bin", bytes), "dapple-a").refusal(2, "garbage.bin:1: ");
  }

  @Test
  void filesThatAreNoClustersAreRefused() {
    planned(graph, Cli.file(folder, "empty.yaml", "")).refusal(2, "empty.yaml:1: ", "is empty");
    planned(graph, folder).refusal(2, folder + ": is a directory");
    byte[] bytes = new byte[4096];
    new java.util.Random(1).nextBytes(bytes);
    planned(graph, Cli.file(folder, "garbage.bin", bytes)).refusal(2, "garbage.bin:");
  }

  @Test
  void filesThatAreNoPlansAreRefused() {
    for (String command : new String[] {"simulate", "check"}) {
      Cli.run(command, Cli.file(folder, "empty.json", "").toString())
          .refusal(2, "empty.json:1: ", "is empty");
      Cli.run(command, folder.toString()).refusal(2, folder + ": is a directory");
      Cli.run(command, Cli.file(folder, "garbage.bin", "\0\1\2ÿ").toString())
          .refusal(2, "garbage.bin:1: ");
      Cli.run(command, Cli.file(folder, "some.json", Cli.plan()).toString())
          .refusal(2, "some.json: does not say its model; add --model");
    }
  }

  @Test
  void outNeverReplacesWhatIsNotOurs() throws IOException {
    byte[] foreign = "{\"precious\": true}".getBytes(java.nio.charset.StandardCharsets.UTF_8);
    Path plan = Cli.file(folder, "plan.json", foreign);
    Cli.plan(
            graph,
            cluster,
            "--profile-batch",
            "2",
            "--global-batch",
            "16",
            "--out",
            folder.toString())
        .refusal(2, plan + " exists and is not Pipewright's; name another folder");
    assertArrayEquals(foreign, Files.readAllBytes(plan));
    assertFalse(Files.exists(folder.resolve("report.html")));
  }

  @Test
  void outMustBeAFolder() {
    for (Path out : new Path[] {graph, graph.resolve("below")}) {
      Cli.plan(
              graph,
              cluster,
              "--profile-batch",
              "2",
              "--global-batch",
              "16",
              "--out",
              out.toString())
          .refusal(2, "--out: " + graph + " is a file; name a folder");
    }
    assertEquals(Cli.smallGraph(), Cli.text(graph));
  }

  @Test
  void outThatCannotBeWrittenIsRefused() {
    org.junit.jupiter.api.Assumptions.assumeTrue(Files.isDirectory(Path.of("/proc")));
    Cli run =
        Cli.plan(
            graph, cluster, "--profile-batch", "2", "--global-batch", "16", "--out", "/proc/nope");
    run.ends(2);
    assertEquals(true, run.err().contains("--out: /proc/nope"), run.err());
    assertFalse(run.err().contains("Exception"), run.err());
  }

  @Test
  void nothingIsLeftBehindWhereNothingFits() {
    Path out = folder.resolve("out");
    Cli.plan(
            graph,
            cluster,
            "--profile-batch",
            "2",
            "--global-batch",
            "16",
            "--memory",
            "1kB",
            "--out",
            out.toString())
        .refusal(1, "nothing fits");
    assertFalse(Files.exists(out));
  }
}
