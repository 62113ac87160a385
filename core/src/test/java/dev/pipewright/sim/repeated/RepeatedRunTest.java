package dev.pipewright.sim.repeated;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.OperatorGraph.Devices;
import dev.pipewright.planner.placement.OperatorGraph.Edge;
import dev.pipewright.planner.placement.OperatorGraph.Operator;
import dev.pipewright.planner.placement.OperatorPlacement;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class RepeatedRunTest {
  /**
   * Forward on two ranks and back, a second each; a batch goes back behind the next one's forward:
   *
   * <pre>
   * 0 | F0 F1 .. B0 F2 B1
   * 1 | .. F0 B0 F1 B1 F2
   * </pre>
   */
  private static List<Task> thereAndBack(double notBefore) {
    return List.of(
        new Task(0, 1, 1, notBefore, List.of()),
        new Task(0, 1, 0, notBefore, List.of(2)),
        new Task(1, 2, 0, notBefore, List.of(0)));
  }

  @Test
  void roundsAreAsLongAsTheBusiestRankTakes() {
    RepeatedRun run = RepeatedRun.of(thereAndBack(0), 2, 1, 0, 12);
    assertEquals(1, run.end(0, 0));
    assertTrue(Double.isNaN(run.end(1, 0))); // no batch −1
    assertEquals(3, run.end(2, 1));
    assertEquals(4, run.end(1, 1));
    assertEquals(6, run.end(1, 2));
    assertEquals(2, run.period(6));
    assertArrayEquals(
        new double[] {2, 0}, run.peaks(new double[] {1, 0, 0}, new double[] {0, 1, 0}));
  }

  @Test
  void aTimetableHoldsBackWhatCouldStart() {
    RepeatedRun run = RepeatedRun.of(thereAndBack(0), 2, 1, 5, 12);
    assertEquals(5, run.period(6));
    RepeatedRun late = RepeatedRun.of(thereAndBack(0), 2, 1, 1, 12); // one that cannot be kept
    assertEquals(2, late.period(6));
  }

  @Test
  void circlesAreRefused() {
    List<Task> circle = List.of(new Task(0, 1, 0, 0, List.of(1)), new Task(1, 1, 0, 0, List.of(0)));
    assertThrows(IllegalArgumentException.class, () -> RepeatedRun.of(circle, 2, 1, 0, 3));
    List<Task> turned = // the second of the rank is needed by the first
        List.of(new Task(0, 1, 0, 0, List.of(1)), new Task(0, 1, 0, 0, List.of()));
    assertThrows(IllegalArgumentException.class, () -> RepeatedRun.of(turned, 1, 1, 0, 3));
  }

  @RepeatedTest(300)
  void operatorsPassSamplesOnAsFastAsTheBusiestDeviceIsLoaded(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int size = random.nextInt(1, 14);
    int count = random.nextInt(1, 5);
    int[] deviceOf = random.ints(size, 0, count).toArray();
    boolean[] processor = new boolean[count];
    List<Operator> operators = new ArrayList<>();
    List<Edge> edges = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      processor[i] = random.nextInt(4) == 0;
    }
    for (int i = 0; i < size; i++) {
      operators.add(
          new Operator(
              i,
              "",
              true,
              random.nextInt(0, 9),
              random.nextInt(0, 9),
              random.nextInt(0, 4),
              1,
              false,
              OptionalLong.empty()));
      for (int from = 0; from < i; from++) {
        if (random.nextInt(3) == 0) {
          edges.add(new Edge(from, i));
        }
      }
    }
    OperatorGraph graph = new OperatorGraph("", new Devices(4, 4, 1e9), operators, edges);
    check(graph, deviceOf, processor);
  }

  private static void check(OperatorGraph graph, int[] deviceOf, boolean[] processor) {
    double[] seconds = new double[deviceOf.length];
    double[] transfers = new double[deviceOf.length];
    boolean[] pays = new boolean[processor.length];
    for (int device = 0; device < pays.length; device++) {
      pays[device] = !processor[device];
    }
    for (int i = 0; i < seconds.length; i++) {
      Operator operator = graph.operator(i);
      seconds[i] = processor[deviceOf[i]] ? operator.processorTime() : operator.acceleratorTime();
      transfers[i] = operator.transferTime();
    }
    int[][] edges =
        graph.edges().stream().map(e -> new int[] {e.from(), e.to()}).toArray(int[][]::new);
    List<Task> tasks = OperatorTasks.of(deviceOf, edges, seconds, transfers, pays);
    double most = OperatorPlacement.of(graph, deviceOf, processor).maxLoad();
    int rounds = 2 * RepeatedRun.rounds(tasks, 1) + 24;
    RepeatedRun run = RepeatedRun.of(tasks, processor.length, 1, 0, rounds);
    assertEquals(most, run.period(24), 1e-9);
  }
}
