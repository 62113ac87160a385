package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.runtime.Patterns;
import dev.pipewright.runtime.net.CountingTransport;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.runtime.transport.PassingTransport;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.zoo.Models;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Workers that only take time tell each other as much, in the same order, as those who learn. */
class EmulatedMessagesTest {
  private static final int BATCH = 12;
  private static final long BUCKET = 3_000;
  private static final LayerGraph GRAPH =
      Models.find("mlp:layers=6,hidden=18,in=13,classes=4").orElseThrow().graph();

  /** What a worker has sent to others and summed with them. */
  private record Told(List<String> messages, CountingTransport sums) {
    static Told of(Transport transport) {
      return new Told(new ArrayList<>(), new CountingTransport(transport));
    }

    @Override
    public String toString() {
      return messages + ", " + sums.summed() + " bytes summed";
    }
  }

  private record Noting(CountingTransport through, Told communication) implements PassingTransport {
    @Override
    public Pending send(Tensor tensor, int to, int tag) {
      communication.messages().add("%d bytes to %d as %d".formatted(tensor.bytes(), to, tag));
      return through.send(tensor, to, tag);
    }
  }

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  private static UnaryOperator<Transport> into(Map<Integer, Told> communication) {
    return transport -> {
      Told own = Told.of(transport);
      synchronized (communication) {
        communication.put(transport.worker(), own);
      }
      return new Noting(own.sums(), own);
    };
  }

  private static void same(Assignment assignment) throws Exception {
    same(GRAPH, assignment);
  }

  private static void same(LayerGraph graph, Assignment assignment) throws Exception {
    Map<Integer, Told> learning = new TreeMap<>();
    Training.synthetic(graph, UpdateRule.usual(Optimizer.SGD), BATCH, BUCKET)
        .run(assignment, EmulationTest.STEPS, into(learning), new Training.Look() {});
    Map<Integer, Told> emulated = new TreeMap<>();
    EmulationTest.run(graph, assignment, BUCKET, into(emulated));
    String name = assignment.schedule().name();
    assertEquals(assignment.size(), emulated.size(), name);
    assertEquals(learning.toString(), emulated.toString(), name);
    assertFalse(
        learning.values().stream()
            .allMatch(t -> t.messages().isEmpty() && t.sums().summed().get() == 0),
        name);
  }

  @Test
  void ofStepsThatEnd() throws Exception {
    List<Schedule> schedules =
        List.of(
            OneForwardOneBackward.of(1, 2),
            OneForwardOneBackward.of(3, 4),
            ZeroBubbleH1.of(3, 4),
            Interleaved.of(2, 2, 4),
            Chimera.of(2, 4));
    for (Schedule schedule : schedules) {
      for (int replicas = schedule.ranks() > 1 ? 1 : 2; replicas <= 2; replicas++) {
        var cut = NetworksTest.cut(GRAPH, schedule.placement().depth());
        List<Integer> workers = Collections.nCopies(schedule.ranks(), replicas);
        same(new Assignment(schedule, cut, workers, BATCH, true));
      }
    }
  }

  /** The gradients of a table that the first and the last stage read. */
  @Test
  void ofTablesThatAreReadTwice() throws Exception {
    LayerGraph graph =
        Models.find("gpt:layers=2,hidden=16,heads=2,sequence=8,vocabulary=320")
            .orElseThrow()
            .graph();
    for (int replicas = 1; replicas <= 2; replicas++) {
      for (int stages = 3 - replicas; stages <= 2; stages++) {
        var cut = NetworksTest.cut(graph, stages);
        List<Integer> workers = Collections.nCopies(stages, replicas);
        Schedule schedule = OneForwardOneBackward.of(stages, 2);
        same(graph, new Assignment(schedule, cut, workers, BATCH, true));
      }
    }
    same(graph, asynchronous(graph, new AsyncPipeline.DoubleBuffered(2, 3, false), 1));
    same(graph, asynchronous(graph, new AsyncPipeline.DoubleBuffered(2, 3, true), 2));
    same(graph, asynchronous(graph, Patterns.endsTogether(), 1));
  }

  @Test
  void ofStepsThatFlow() throws Exception {
    same(asynchronous(new AsyncPipeline.PipeDream(List.of(1, 1, 1), false), 1));
    same(asynchronous(new AsyncPipeline.PipeDream(List.of(2, 1), false), 1));
    same(asynchronous(new AsyncPipeline.DoubleBuffered(3, 4, false), 1));
    same(asynchronous(Patterns.twoOnEach(), 1));
    same(asynchronous(new AsyncPipeline.DoubleBuffered(2, 4, true), 2));
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      same(asynchronous(cyclic(Cyclic.Form.RING, rule), 1));
      same(asynchronous(cyclic(Cyclic.Form.PYRAMID, rule), 1));
      same(asynchronous(cyclic(Cyclic.Form.PIPELINE, rule), 1));
    }
  }

  private static AsyncPipeline cyclic(Cyclic.Form form, Cyclic.Rule rule) {
    return new AsyncPipeline.CyclicDataParallel(new Cyclic(3), form, rule);
  }

  private static Assignment asynchronous(AsyncPipeline asyncPipeline, int workers) {
    return asynchronous(GRAPH, asyncPipeline, workers);
  }

  private static Assignment asynchronous(
      LayerGraph graph, AsyncPipeline asyncPipeline, int workers) {
    int ranks = asyncPipeline.schedule(asyncPipeline.round()).ranks();
    var cut = NetworksTest.cut(graph, asyncPipeline.stages());
    return Assignment.of(asyncPipeline, cut, Collections.nCopies(ranks, workers), BATCH);
  }
}
