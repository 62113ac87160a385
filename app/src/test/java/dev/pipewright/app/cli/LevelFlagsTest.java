package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.input.Levels;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.planner.pipedream.BandwidthLevel;
import dev.pipewright.zoo.Clusters;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class LevelFlagsTest {
  private static Cli plan(Path folder, String levels, String bandwidths, String... more) {
    Path file = Cli.file(folder, "small.txt", Cli.graph(0, 0, 0, 1_000_000_000));
    String[] args = {"plan", file.toString(), "--planner", "pipedream", "--profile-batch", "32"};
    for (String one : List.of("--levels", levels, "--bandwidths", bandwidths)) {
      args = Cli.with(args, one);
    }
    for (String one : more) {
      args = Cli.with(args, one);
    }
    return Cli.run(args).ends(0);
  }

  @Test
  void jsonHoldsThePlanAndItsReasons(@TempDir Path folder) {
    JsonNode json = plan(folder, "4", "25e9", "--json").json();
    assertEquals("pipedream", json.get("planner").asString());
    assertEquals("minibatch_s", json.at("/objective/name").asString());
    assertEquals(0.006, json.at("/objective/value").asDouble(), 1e-12); // 18 ms on 3, 6 ms on 1
    assertEquals(0.006, json.at("/lower_bound/value").asDouble(), 1e-12);
    assertEquals("work / devices", json.at("/lower_bound/why").asString());
    double simulated = json.at("/simulated/minibatch_s").asDouble();
    assertEquals(0.024 / simulated, json.get("speedup").asDouble(), 1e-9);
    assertTrue(json.get("planning_s").asDouble() >= 0);
    assertEquals("pipedream", json.at("/plan/schedule").asString());
    assertEquals(32, json.at("/plan/micro_batch").asInt());
    assertEquals(2, json.at("/plan/micro_batches").asInt());
    assertEquals(1, json.at("/plan/replicas").asInt());
    assertEquals(
        "[[0,2],[3,3]]",
        json.at("/plan/stages")
            .valueStream()
            .map(s -> s.get("layers"))
            .toList()
            .toString()
            .replace(" ", ""));
    JsonNode first = json.at("/plan/stages/0");
    assertEquals("[0,1,2]", first.get("devices").toString());
    assertEquals("[3]", first.get("replicas_by_level").toString());
    assertEquals(0.006, first.get("forward_s").asDouble(), 1e-12);
    assertEquals(0.012, first.get("backward_s").asDouble(), 1e-12);
    assertEquals(0, first.get("allreduce_s").asDouble(), 1e-12);
    assertEquals(0.002, json.at("/plan/stages/1/forward_s").asDouble(), 1e-12);
    assertTrue(json.at("/why/binding").asString().startsWith("compute: "));
    assertTrue(json.at("/why/runner_up/gap").asDouble() > 0);
    assertTrue(json.at("/search/exhaustive").asBoolean());
  }

  @Test
  void theReportNamesStagesBoundsAndRivals(@TempDir Path folder) {
    String report = plan(folder, "2,2", "25e9,1e9").out();
    for (String part :
        List.of(
            "small.txt on 2×2 devices",
            "mini-batch",
            "lower bound",
            "bound by",
            "runner-up",
            "data parallel",
            "exact over 4 cut points")) {
      assertTrue(report.contains(part), part + " is missing in:\n" + report);
    }
    report
        .lines()
        .forEach(line -> assertTrue(line.length() <= 100 || line.contains("small.txt"), line));
  }

  @Test
  void levelsAreReadInnermostFirst() {
    assertEquals(
        new Levels(List.of(new BandwidthLevel(4, 25e9), new BandwidthLevel(2, 1e9))),
        Levels.parse("4, 2", "25e9,1e9"));
  }

  @ParameterizedTest(name = "{0} at {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "4,x|1,1|--levels: 'x' is no count; give whole numbers >= 1, like 64",
        "4,0|1,1|--levels: '0' is no count; give whole numbers >= 1, like 64",
        "4,|1,1|--levels: '' is no count; give whole numbers >= 1, like 64",
        "4,4|25e9|--bandwidths: has 1 where --levels has 2; give one for each level, innermost first, like 25e9,1e9",
        "4|fast|--bandwidths: 'fast' is no rate; give 0.001 to 1e18 bytes per second, like 25e9",
        "4|-1|--bandwidths: '-1' is no rate; give 0.001 to 1e18 bytes per second, like 25e9",
        "4|NaN|--bandwidths: 'NaN' is no rate; give 0.001 to 1e18 bytes per second, like 25e9",
        "4|Infinity|--bandwidths: 'Infinity' is no rate; give 0.001 to 1e18 bytes per second, like 25e9",
        "64,65|1,1|--levels: 64,65 make more devices than can be planned; take at most 4096",
        "2147483647,2147483647,2147483647|1,1,1|--levels: 2147483647 is too many; give at most 1048576",
        "1,1,1,1,1,1,1|1|--levels: names 7 levels; take at most 6",
      })
  void wrongLevelsAreOneSentence(String levels, String bandwidths, String sentence) {
    String found =
        assertThrows(BadInputException.class, () -> Levels.parse(levels, bandwidths)).getMessage();
    assertEquals(sentence, found);
  }

  @Test
  void aClusterHasLevelsToo() {
    Levels levels = Levels.of(Clusters.find("dapple-a").orElseThrow());
    assertEquals(List.of(8, 2), levels.levels().stream().map(BandwidthLevel::units).toList());
    assertTrue(levels.levels().get(0).bytesPerSecond() > levels.levels().get(1).bytesPerSecond());
  }

  @Test
  void aNameIsRefusedSinceLevelsDescribeNoDevice() {
    String[] args = {"--planner", "pipedream", "--levels", "4", "--bandwidths", "1e9"};
    String[] line = {"plan", "vgg-16"};
    for (String one : args) {
      line = Cli.with(line, one);
    }
    assertEquals(
        "no model file 'vgg-16'; give a file with measured times, since --levels says nothing of"
            + " the devices, or plan with --cluster",
        Cli.run(line).refusal(2));
  }

  @Test
  void machinesOfDifferentSizesAreRefused() {
    var pair = Clusters.find("dapple-a:1x3").orElseThrow();
    var levels = Clusters.find("dapple-a:2x8").orElseThrow().levels();
    var uneven = new Cluster("odd", pair.devices(), levels, List.of(List.of(2, 1), List.of(3)));
    var refusal = assertThrows(BadInputException.class, () -> Levels.of(uneven));
    assertEquals(
        "--cluster: PipeDream's planners need groups of one size, and those of odd differ; make"
            + " them equal or take --planner dapple",
        refusal.getMessage());
  }
}
