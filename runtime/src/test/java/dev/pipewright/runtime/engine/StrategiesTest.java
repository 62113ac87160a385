package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.exchange.Segment;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.DualPipe;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Every strategy and schedule gives what one worker gives alone. */
class StrategiesTest {
  static final int WIDTH = 24;
  static final int CLASSES = 5;
  private static final int STEPS = 3;

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  static LayerGraph perceptron(int layers) {
    return perceptron(layers, WIDTH);
  }

  private static LayerGraph perceptron(int layers, int width) {
    List<Layer> stack = new ArrayList<>();
    for (int i = 0; i < layers; i++) {
      int out = i + 1 == layers ? CLASSES : width;
      stack.add(
          new Layer(
              "fc" + i,
              new Operator.Linear(width, out, true),
              Optional.of(Shape.of(out)),
              (width + 1L) * out,
              out,
              out,
              Work.NONE));
      if (out == width) {
        stack.add(
            new Layer(
                "relu" + i,
                new Operator.Elementwise("relu"),
                Optional.of(Shape.of(out)),
                0,
                out,
                out,
                Work.NONE));
      }
    }
    return LayerGraph.chain("perceptron", stack);
  }

  private static Training training(LayerGraph graph, Optimizer optimizer) {
    return new Training(
        graph,
        LossFunction.CROSS_ENTROPY,
        UpdateRule.usual(optimizer),
        Training.randomClasses(CLASSES, WIDTH),
        3000);
  }

  static List<StageLayers> even(int layers, int stages) {
    List<StageLayers> cut = new ArrayList<>();
    for (int s = 0; s < stages; s++) {
      cut.add(StageLayers.keeping(layers * s / stages, layers * (s + 1) / stages - 1));
    }
    return cut;
  }

  private static void same(LayerGraph graph, Assignment assignment, Optimizer optimizer) {
    Training training = training(graph, optimizer);
    Schedule schedule = assignment.schedule();
    int all = schedule.microBatches() * schedule.placement().chains();
    var serial = training.run(Assignment.serial(graph.size(), all, assignment.batch()), STEPS);
    var parallel = training.run(assignment, STEPS);
    assertEquals(0, Training.difference(serial, parallel), 1e-5);
    assertTrue(serial.losses()[0] > 0.5, "a loss that is none");
    for (int i = 0; i < STEPS; i++) {
      assertEquals(serial.losses()[i], parallel.losses()[i], 1e-5);
    }
  }

  @Test
  void schedulesOfAPipeline() {
    LayerGraph graph = perceptron(9);
    for (Schedule schedule :
        List.of(
            GPipe.of(4, 6),
            OneForwardOneBackward.of(4, 6),
            ZeroBubbleH1.of(4, 6),
            Interleaved.of(2, 2, 4),
            DualPipeV.of(2, 6),
            Chimera.of(4, 4),
            DualPipe.of(4, 8))) {
      int ranks = schedule.ranks();
      List<StageLayers> stages = even(graph.size(), schedule.placement().depth());
      var assignment = new Assignment(schedule, stages, Collections.nCopies(ranks, 1), 24, false);
      same(graph, assignment, Optimizer.MOMENTUM);
    }
  }

  /** So wide that the backward pass leaves the layers one by one. */
  @Test
  void whoTrainsAloneMayUpdateDuringTheLastPass() {
    int width = 512;
    LayerGraph graph = perceptron(4, width);
    for (Optimizer optimizer : List.of(Optimizer.SGD, Optimizer.MOMENTUM, Optimizer.ADAM)) {
      var training =
          new Training(
              graph,
              LossFunction.CROSS_ENTROPY,
              UpdateRule.usual(optimizer),
              Training.randomClasses(CLASSES, width),
              Long.MAX_VALUE);
      for (int microBatches : new int[] {1, 3}) {
        Schedule schedule = OneForwardOneBackward.of(1, microBatches);
        var one = new Assignment(schedule, even(graph.size(), 1), List.of(1), 6, true);
        assertTrue(Segment.of(one, 0, Chain.of(graph), Long.MAX_VALUE).size() > 2, "in one piece");
        var during = training.run(one, STEPS);
        var behind = training.run(Assignment.serial(graph.size(), microBatches, 6), STEPS);
        assertEquals(0, Training.difference(during, behind), 0, optimizer + " " + microBatches);
        assertArrayEquals(during.losses(), behind.losses(), 0);
      }
    }
  }

  @Test
  void dataParallelUneven() {
    LayerGraph graph = perceptron(5);
    for (boolean overlapped : new boolean[] {false, true}) {
      for (int workers = 1; workers <= 4; workers++) {
        var assignment =
            new Assignment(
                OneForwardOneBackward.of(1, 2),
                even(graph.size(), 1),
                List.of(workers),
                13,
                overlapped);
        same(graph, assignment, Optimizer.ADAM);
      }
    }
  }

  @Test
  void hybridsWithDifferentReplication() {
    LayerGraph graph = perceptron(6);
    for (List<Integer> workers :
        List.of(List.of(1, 2), List.of(3, 2), List.of(2, 1, 3), List.of(1, 4, 1))) {
      var assignment =
          new Assignment(
              OneForwardOneBackward.of(workers.size(), 4),
              even(graph.size(), workers.size()),
              workers,
              19,
              true);
      same(graph, assignment, Optimizer.SGD);
    }
  }

  /** The same numbers in the same order, whether they are kept or computed again. */
  @Test
  void recomputingAllMicroBatchesButTheLastChangesNoBit() {
    LayerGraph graph = perceptron(6);
    Training training = training(graph, Optimizer.MOMENTUM);
    for (Schedule schedule :
        List.of(GPipe.of(2, 4), OneForwardOneBackward.of(2, 4), ZeroBubbleH1.of(2, 4))) {
      var kept = training.run(recomputing(schedule, Recompute.NONE), STEPS);
      for (Recompute how : List.of(Recompute.EXCEPT_LAST, Recompute.STAGE_INPUT)) {
        var again = training.run(recomputing(schedule, how), STEPS);
        assertEquals(0, Training.difference(kept, again), 0, schedule.name() + " " + how);
        assertArrayEquals(kept.losses(), again.losses(), 0);
      }
    }
  }

  private static Assignment recomputing(Schedule schedule, Recompute how) {
    List<StageLayers> stages =
        List.of(
            new StageLayers(new LayerRange(0, 4), how, List.of()),
            new StageLayers(new LayerRange(5, 10), how, List.of()));
    return new Assignment(schedule, stages, List.of(1, 2), 12, true);
  }

  @Test
  void recomputation() {
    LayerGraph graph = perceptron(6);
    List<StageLayers> stages =
        List.of(
            new StageLayers(new LayerRange(0, 4), Recompute.STAGE_INPUT, List.of()),
            new StageLayers(
                new LayerRange(5, 10),
                Recompute.SELECTIVE,
                List.of(new LayerRange(5, 6), new LayerRange(8, 9))));
    for (Schedule schedule : List.of(OneForwardOneBackward.of(2, 4), ZeroBubbleH1.of(2, 4))) {
      same(graph, new Assignment(schedule, stages, List.of(1, 2), 12, true), Optimizer.MOMENTUM);
    }
  }
}
