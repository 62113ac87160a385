package dev.pipewright.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.planner.placement.OperatorGraph;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlacementJsonTest {
  private static final String GOOD =
      """
      {"maxSizePerFPGA": 100.5, "maxFPGAs": 2, "maxCPUs": 1, "comment": "passed over",
       "nodes": [
        {"id": 7, "name": "conv", "supportedOnFpga": 1, "cpuLatency": 10, "fpgaLatency": 1.5,
         "isBackwardNode": 0, "colorClass": 3, "size": 12},
        {"id": -2, "supportedOnFpga": false, "cpuLatency": 20, "isBackwardNode": false},
        {"id": 9, "supportedOnFpga": true, "cpuLatency": 30, "fpgaLatency": 3,
         "isBackwardNode": 1, "colorClass": 3, "size": 4}],
       "edges": [
        {"sourceId": 7, "destId": -2, "cost": 0.25},
        {"sourceId": 7, "destId": 9, "cost": 0.2500001, "size": 5}]}
      """;

  @TempDir private Path folder = Path.of("");

  @Test
  void readsWhatTheWorkloadsSay() {
    OperatorGraph graph = PlacementJson.read(Refusal.file(folder, "small.json", GOOD));
    assertEquals("small", graph.name());
    assertEquals(new OperatorGraph.Devices(2, 1, 100.5), graph.devices());
    assertEquals(
        List.of(
            new OperatorGraph.Operator(
                7, "conv", true, 10, 1.5, 0.25, 12, false, java.util.OptionalLong.of(3)),
            new OperatorGraph.Operator(
                -2, "node -2", false, 20, 0, 0, 0, false, java.util.OptionalLong.empty()),
            new OperatorGraph.Operator(
                9, "node 9", true, 30, 3, 0, 4, true, java.util.OptionalLong.of(3))),
        graph.operators());
    assertEquals(
        List.of(new OperatorGraph.Edge(0, 1), new OperatorGraph.Edge(0, 2)), graph.edges());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          "maxFPGAs": 2, | | the key "maxFPGAs" is missing; add it | 1
          "maxCPUs": 1 | "maxCPUs": -1 | maxCPUs is the number -1; expected a whole number >= 0 | 1
          "maxFPGAs": 2, "maxCPUs": 1 | "maxFPGAs": 0, "maxCPUs": 0 | maxFPGAs and maxCPUs make 0 devices; give 1 to 4096 together | 1
          100.5 | NaN | is no value of JSON | 1
          "fpgaLatency": 1.5 | "fpgaLatency": -1.5 | nodes[0].fpgaLatency is the number -1.5; expected 0 or 1e-18 to 1e24 | 3
          "fpgaLatency": 1.5 | "latency": 1.5 | the key "fpgaLatency" is missing in nodes[0]; add it | 3
          "id": 9 | "id": 7 | nodes[2].id is 7, the id of the node in line 3 as well; give each node an id of its own | 6
          "destId": -2 | "destId": 8 | edges[0].destId is 8, but no node has that id; name a node or add one | 9
          0.2500001 | 0.26 | edges[1].cost is 0.26, but node 7's edge in line 9 costs 0.25; a node's output is sent once, so give all its edges one cost | 10
          "destId": -2 | "destId": 7 | edges[0] from node 7 to node 7 closes a circle; a network has none | 9
          "sourceId": 7, "destId": 9 | "sourceId": 9, "destId": 7 | edges[1] leads from the backward pass (node 9) to the forward pass (node 7); turn it round or correct isBackwardNode | 10
          "sourceId": 7, "destId": 9, "cost": 0.2500001 | "sourceId": -2, "destId": 7, "cost": 0 | closes a circle; a network has none |
          "isBackwardNode": 0 | "isBackwardNode": 2 | nodes[0].isBackwardNode is the number 2.0; expected true, false, 0 or 1 | 4
          "isBackwardNode": 0 | "isBackwardNode": "no" | nodes[0].isBackwardNode is the text "no"; expected true or false | 4
          """)
  void aMistakeIsOneSentenceWithItsPlace(String from, String to, String expected, String line) {
    assertTrue(GOOD.contains(from), from);
    Path file =
        Refusal.file(folder, "bad.json", GOOD.replace(from, String.valueOf(to == null ? "" : to)));
    String refusal = Refusal.of(file, PlacementJson::read);
    assertTrue(refusal.contains(expected), refusal);
    assertTrue(refusal.startsWith("bad.json:" + (line == null ? "" : line + ":")), refusal);
  }

  @Test
  void aNetworkHasNodes() {
    String none =
        "{\"maxSizePerFPGA\": 1, \"maxFPGAs\": 1, \"maxCPUs\": 0, \"nodes\": [], \"edges\": []}";
    Refusal.assertRefused(
        "none.json:1: nodes is empty; a network has at least one node",
        Refusal.file(folder, "none.json", none),
        PlacementJson::read);
  }

  @Test
  void aWorkloadIsKnownByItsKeys() {
    assertTrue(PlacementJson.isWorkload(Refusal.file(folder, "a.json", GOOD)));
    assertTrue(PlacementJson.isWorkload(Refusal.file(folder, "b.json", GOOD.replace("]}", "]"))));
    assertTrue(
        PlacementJson.isWorkload(Refusal.file(folder, "c.json", "{\"nodes\": [], \"edges\": []}")));
    assertFalse(
        PlacementJson.isWorkload(
            Refusal.file(folder, "d.json", "{\"layers\": [], \"edges\": []}")));
    assertFalse(PlacementJson.isWorkload(Refusal.file(folder, "e.txt", "node1 -- x")));
    assertFalse(PlacementJson.isWorkload(Refusal.file(folder, "f.txt", "")));
    assertFalse(PlacementJson.isWorkload(Refusal.file(folder, "g.json", "[1]")));
  }

  @RepeatedTest(value = 300, name = "seed {currentRepetition}")
  void aBrokenFileIsRefusedInASentenceOrRead(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    StringBuilder text = new StringBuilder(GOOD);
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      int at = random.nextInt(text.length());
      text.setCharAt(at, "0123456789-.eE,\":{}[] x".charAt(random.nextInt(23)));
    }
    Path file = Refusal.file(folder, "broken.json", text.toString());
    PlacementJson.isWorkload(file);
    try {
      assertTrue(PlacementJson.read(file).size() > 0);
    } catch (BadInputException e) {
      assertFalse(String.valueOf(e.getMessage()).contains("\n"), e::getMessage);
    }
  }
}
