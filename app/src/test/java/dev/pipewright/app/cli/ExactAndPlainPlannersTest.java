package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class ExactAndPlainPlannersTest {
  @TempDir private Path folder;

  private Cli plan(String planner, String... more) {
    Path model = Cli.file(folder, "model.txt", Cli.smallGraph());
    Path cluster = Cli.file(folder, "cluster.yaml", Cli.cluster());
    String[] args = {"--planner", planner, "--profile-batch", "2", "--global-batch", "16"};
    for (String one : more) {
      args = Cli.with(args, one);
    }
    return Cli.plan(model, cluster, args);
  }

  @Test
  void theExactPlanIsProven() {
    JsonNode exact = plan("exact", "--json").ends(0).json();
    assertEquals("exact", exact.get("planner").asString());
    assertTrue(exact.at("/search/exhaustive").asBoolean());
    JsonNode usual = plan("dapple", "--json").ends(0).json();
    assertTrue(exact.at("/objective/value").asDouble() <= usual.at("/objective/value").asDouble());
  }

  @Test
  void anEarlyEndOfTheExactSearchIsSaid() {
    Cli ended =
        Cli.plan(
                "bert-48",
                "dapple-a:4x8",
                "--planner",
                "exact",
                "--global-batch",
                "32",
                "--time-limit",
                "0.5")
            .ends(0);
    assertTrue(
        ended.err().contains("the search was ended early; the best so far is "), ended.err());
    assertTrue(ended.out().contains("not exhaustive"), ended.out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"uniform-layers", "uniform-parameters", "torchgpipe"})
  void plainPipelinesUseAllDevicesAndAreNoBetterThanTheBest(String planner) {
    Path out = folder.resolve("out");
    JsonNode plain = plan(planner, "--json", "--out", out.toString()).ends(0).json();
    assertEquals(planner, plain.get("planner").asString());
    assertEquals("1f1b", plain.at("/plan/schedule").asString());
    assertEquals(4, plain.at("/plan/stages").size());
    JsonNode best = plan("exact", "--json").ends(0).json();
    assertTrue(
        best.at("/objective/value").asDouble() <= plain.at("/objective/value").asDouble() + 1e-12);
    Cli.run("check", out.resolve("plan.json").toString()).ends(0);
  }

  /** The default planner finds a plan with so little memory; Alpa's stages do not fit. */
  @Test
  void alpaPromisesNoMemoryThatOnlyOtherCutsWouldFit() {
    String[] asked = {"--global-batch", "64", "--memory", "963MiB", "--planner"};
    Cli.plan("bert-48", "dapple-a", Cli.with(asked, "auto")).ends(0);
    String sentence = Cli.plan("bert-48", "dapple-a", Cli.with(asked, "alpa")).ends(1).err();
    assertTrue(sentence.contains("no stages of its pass fit on all 16 devices"), sentence);
    assertFalse(sentence.contains("would do"), sentence);
  }

  @Test
  void anotherScheduleMayBeAskedFor() {
    JsonNode plan = plan("torchgpipe", "--schedule", "gpipe", "--json").ends(0).json();
    assertEquals("gpipe", plan.at("/plan/schedule").asString());
  }

  /** GPipe holds all micro-batches; it cannot hold fewer where memory is short. */
  @Test
  void gpipeIsPlannedWhereTheParametersAreTooLargeForOneDevice() {
    JsonNode plan = plan("gpipe", "--memory", "100000000", "--json").ends(0).json();
    assertTrue(plan.at("/plan/stages").size() > 1, plan::toString);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1f1b", "gpipe"})
  void aPlainPipelineThatDoesNotFitSaysWhatWould(String schedule) {
    String[] asked = {"--schedule", schedule, "--memory"};
    String sentence = plan("uniform-layers", Cli.with(asked, "10000000")).ends(1).err();
    assertTrue(
        sentence.startsWith(
            "pipewright: nothing fits: cut by this rule, a device of the fullest stage has to hold "),
        sentence);
    String enough = sentence.replaceAll(".* has to hold (.*?); take .*\\s*", "$1");
    plan("uniform-layers", Cli.with(asked, enough)).ends(0);
  }
}
