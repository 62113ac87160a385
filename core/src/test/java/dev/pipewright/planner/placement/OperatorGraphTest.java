package dev.pipewright.planner.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.placement.OperatorGraph.CircleException;
import dev.pipewright.planner.placement.OperatorGraph.Devices;
import dev.pipewright.planner.placement.OperatorGraph.Edge;
import dev.pipewright.planner.placement.OperatorGraph.Operator;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class OperatorGraphTest {
  private static final Devices TWO = new Devices(2, 1, 100);

  private static Operator operator(double time, double transfer, boolean backward) {
    return new Operator(0, "a", true, 10 * time, time, transfer, 7, backward, OptionalLong.empty());
  }

  private static OperatorGraph graph(List<Operator> operators, int... ends) {
    List<Edge> edges = new ArrayList<>();
    for (int i = 0; i < ends.length; i += 2) {
      edges.add(new Edge(ends[i], ends[i + 1]));
    }
    return new OperatorGraph("test", TWO, operators, edges);
  }

  /** One transfer for any number of readers, in and out; the processor pays none. */
  @Test
  void loadsAreWhatThePaperSays() {
    OperatorGraph graph =
        graph(
            List.of(
                operator(1, 0.5, false),
                operator(2, 0.25, false),
                operator(4, 9, false),
                operator(8, 9, false)),
            0,
            1,
            0,
            2,
            0,
            3,
            1,
            2);
    OperatorPlacement placement =
        OperatorPlacement.of(graph, new int[] {0, 1, 1, 2}, new boolean[] {false, false, true});
    assertEquals(1.5, placement.devices().get(0).load());
    assertEquals(6.5, placement.devices().get(1).load());
    assertEquals(80, placement.devices().get(2).load());
    assertEquals(80, placement.maxLoad());
    assertEquals(2, placement.busiest());
    assertEquals(14, placement.devices().get(1).bytes());
    assertEquals(1, placement.devices().get(1).transferred());
    assertEquals(0, placement.devices().get(2).transferred());
  }

  @Test
  void aCircleNamesAnEdgeOfIt() {
    List<Operator> three =
        List.of(operator(1, 1, false), operator(1, 1, false), operator(1, 1, false));
    CircleException circle =
        assertThrows(CircleException.class, () -> graph(three, 0, 1, 1, 2, 2, 1));
    assertTrue(circle.edge() == 1 || circle.edge() == 2);
    assertEquals(0, assertThrows(CircleException.class, () -> graph(three, 1, 1)).edge());
  }

  @Test
  void theForwardPassReadsNothingOfTheBackwardPass() {
    List<Operator> two = List.of(operator(1, 1, true), operator(1, 1, false));
    assertThrows(IllegalArgumentException.class, () -> graph(two, 0, 1));
    assertEquals(2, graph(two, 1, 0).size());
  }
}
