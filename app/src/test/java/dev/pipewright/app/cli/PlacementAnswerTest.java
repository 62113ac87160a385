package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class PlacementAnswerTest {
  @TempDir private Path folder = Path.of("");

  /** Four nodes one after the other, of 3, 1, 3 and 1; only on FPGAs unless there are CPUs. */
  private Path chain(int fpgas, int cpus, int memory) {
    StringBuilder nodes = new StringBuilder();
    StringBuilder edges = new StringBuilder();
    for (int i = 0; i < 4; i++) {
      nodes
          .append(i == 0 ? "" : ",\n")
          .append(
              "{\"id\": %d, \"name\": \"op%d\", \"supportedOnFpga\": 1, \"cpuLatency\": 50, \"fpgaLatency\": %d, \"isBackwardNode\": 0, \"size\": %d}"
                  .formatted(10 + i, i, i % 2 == 0 ? 3 : 1, 5 + i));
      if (i > 0) {
        edges
            .append(i == 1 ? "" : ",\n")
            .append("{\"sourceId\": %d, \"destId\": %d, \"cost\": 0.25}".formatted(9 + i, 10 + i));
      }
    }
    return workload(fpgas, cpus, memory, nodes.toString(), edges.toString());
  }

  private Path workload(int fpgas, int cpus, int memory, String nodes, String edges) {
    return Cli.file(
        folder,
        "work.json",
        "{\"maxFPGAs\": %d, \"maxCPUs\": %d, \"maxSizePerFPGA\": %d,\n\"nodes\": [%s],\n\"edges\": [%s]}"
            .formatted(fpgas, cpus, memory, nodes, edges));
  }

  private static Cli answer(Path file, boolean apart, boolean json) {
    List<String> line = new ArrayList<>(List.of("plan", file.toString(), "--planner", "placement"));
    line.addAll(apart ? List.of("--non-contiguous") : List.of());
    line.addAll(json ? List.of("--json") : List.of());
    return Cli.run(line.toArray(String[]::new));
  }

  @Test
  void theJsonSaysWhoHasWhatAndWhy() {
    Cli run = answer(chain(2, 1, 100), false, true);
    assertEquals(0, run.status());
    JsonNode answer = JsonMapper.shared().readTree(run.out());
    assertEquals("placement", answer.at("/planner").asString());
    assertEquals("max_load", answer.at("/objective/name").asString());
    assertEquals(4.25, answer.at("/objective/value").asDouble());
    assertEquals(4.25, answer.at("/lower_bound/value").asDouble());
    assertEquals(0, answer.at("/gap").asDouble());
    assertTrue(answer.at("/search/exhaustive").asBoolean());
    assertEquals(5, answer.at("/search/ideals").asInt());
    JsonNode stages = answer.at("/plan/stages");
    assertEquals(2, stages.size());
    assertEquals("[10,11]", stages.at("/0/nodes").toString());
    assertEquals("[\"op2\",\"op3\"]", stages.at("/1/names").toString());
    assertEquals("fpga", stages.at("/0/kind").asString());
    assertEquals(4.25, stages.at("/1/load").asDouble());
    assertEquals(15, stages.at("/1/memory_bytes").asDouble());
    assertEquals("one accelerator", answer.at("/candidates/1/kind").asString());
    assertEquals(8, answer.at("/candidates/1/max_load").asDouble());
    assertTrue(answer.at("/why/binding").asString().contains("4.00000 of computing"));
  }

  @Test
  void setsTakenApartAreMarkedAsSuch() {
    JsonNode answer = JsonMapper.shared().readTree(answer(chain(2, 1, 100), true, true).out());
    assertFalse(answer.at("/plan/contiguous").asBoolean());
    assertEquals("contiguous", answer.at("/why/runner_up/kind").asString());
  }

  @Test
  void theTableIsForPeople() {
    String text = answer(chain(2, 1, 100), false, false).out();
    assertTrue(
        text.contains("largest load  4.25000 in the workload's unit of time, the optimum"), text);
    assertTrue(text.contains("op0 … op1"), text);
    assertTrue(text.lines().allMatch(line -> line.length() <= 160), text);
  }

  @Test
  void aProcessorIsTheLastResort() {
    JsonNode answer = JsonMapper.shared().readTree(answer(chain(0, 1, 0), false, true).out());
    assertEquals(200, answer.at("/objective/value").asDouble());
    assertEquals("cpu", answer.at("/plan/stages/0/kind").asString());
  }

  @Test
  void whereNothingFitsItSaysWhatWould() {
    Cli run = answer(chain(2, 0, 10), false, true);
    assertEquals(1, run.status());
    assertTrue(JsonMapper.shared().readTree(run.out()).at("/plan").isNull(), run.out());
    assertTrue(run.err().contains("maxSizePerFPGA of at least 15 bytes"), run.err());
    assertTrue(run.err().contains("with maxFPGAs of at least 4"), run.err());
    assertEquals(0, answer(chain(2, 0, 15), false, true).status());
    assertEquals(0, answer(chain(4, 0, 10), false, true).status());
    assertEquals(1, answer(chain(3, 0, 10), false, true).status());
  }

  @Test
  void whatNoDeviceRunsIsNamed() {
    String node = "{\"id\": 3, \"supportedOnFpga\": 0, \"cpuLatency\": 1, \"isBackwardNode\": 0}";
    Cli run = answer(workload(2, 0, 10, node, ""), false, true);
    assertEquals(1, run.status());
    assertTrue(run.err().contains("no accelerator can run node 3 and maxCPUs is 0"), run.err());
  }

  @Test
  void tooManyWaysToCutAreRefusedWithAWayOut() {
    StringBuilder nodes = new StringBuilder();
    for (int i = 0; i < 30; i++) {
      nodes
          .append(i == 0 ? "" : ",\n")
          .append(
              "{\"id\": %d, \"supportedOnFpga\": 1, \"cpuLatency\": 9, \"fpgaLatency\": 1, \"isBackwardNode\": 0}"
                  .formatted(i));
    }
    Path file = workload(3, 0, 10, nodes.toString(), "");
    answer(file, false, true).refusal(2, "30 groups", "--linearize");
    Cli line = Cli.run("plan", file.toString(), "--planner", "placement", "--linearize", "--json");
    assertEquals(10, line.ends(0).json().at("/objective/value").asDouble());
  }

  @Test
  void aTimeLimitLeavesTheBestSoFar() {
    String file = chain(2, 1, 100).toString();
    Cli run = Cli.run("plan", file, "--planner", "placement", "--time-limit", "1e-9", "--json");
    JsonNode answer = run.ends(0).json();
    double load = answer.at("/objective/value").asDouble();
    assertTrue(4.25 <= load && load <= 8, "load " + load); // the optimum; all on one accelerator
    boolean proven = load == answer.at("/lower_bound/value").asDouble();
    assertEquals(!proven, run.err().contains("the search was ended early"), run.err());
  }

  @Test
  void aWorkloadIsAFile() {
    Cli.run("plan", "bert-48", "--planner", "placement")
        .refusal(2, "no workload 'bert-48'; placement takes a file");
  }
}
