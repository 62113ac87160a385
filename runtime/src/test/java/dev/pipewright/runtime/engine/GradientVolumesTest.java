package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.parallel.CutRegion;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.parallel.Reduction;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.runtime.net.CountingTransport;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.zoo.Models;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What workers tell each other to sum gradients in a step, in bytes, where split stages have
 * replicas (ParaDL, Table 3: data and filter, data and spatial).
 */
class GradientVolumesTest {
  private static final int BYTES = 4;
  private static final LayerGraph GRAPH =
      Models.find("cnn-64-128-256:size=12,classes=4").orElseThrow().graph();

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  /** The transport of each of two replicas of two parts, or of one replica, after a step. */
  private static List<CountingTransport> step(Parallelism split, int replicas) {
    Map<Integer, CountingTransport> counted = new ConcurrentHashMap<>();
    StageLayers layers = StageLayers.keeping(0, Chain.of(GRAPH).size() - 1).with(split);
    Assignment assignment =
        new Assignment(
            OneForwardOneBackward.of(1, 1),
            List.of(layers),
            List.of(replicas * split.parts()),
            2 * replicas,
            true);
    new Training(
            GRAPH,
            LossFunction.CROSS_ENTROPY,
            UpdateRule.usual(Optimizer.SGD),
            Training.randomClasses(4, 3, 12, 12),
            20_000)
        .run(assignment, 1, CountingTransport.into(counted), new Training.Look() {});
    return List.copyOf(new TreeMap<>(counted).values()); // in the order of the workers
  }

  /** Bytes of the parameters of layers that are cut, or of those that are whole. */
  private static long weights(Parallelism split, boolean cut) {
    CutRegion region = new CutRegion(GRAPH, split);
    long bytes = 0;
    for (int number = 0; number < GRAPH.size(); number++) {
      Layer layer = GRAPH.layer(number);
      bytes += region.contains(number) == cut ? layer.parameters() * BYTES : 0;
    }
    return bytes;
  }

  /** Each replica of a part sums its own filters: over all parts, all weights once. */
  @Test
  void filters() {
    Parallelism split = Parallelism.of(Kind.FILTER, 2);
    var alone = step(split, 1);
    var replicated = step(split, 2);
    long first = replicated.get(0).summed().get() - alone.get(0).summed().get();
    long second = replicated.get(1).summed().get() - alone.get(1).summed().get();
    assertEquals(weights(split, false), first + second);
    assertEquals(replicated.get(0).summed().get(), replicated.get(2).summed().get());
  }

  @Test
  void placesByAllAtOnce() {
    Parallelism split = new Parallelism(Kind.SPATIAL, List.of(2, 1)).with(Reduction.FLAT);
    step(split, 2)
        .forEach(worker ->
            assertEquals(weights(split, true) + weights(split, false), worker.summed().get()));
  }

  /** Parts of sums within the team, sums of these over replicas, and gatherings in the team. */
  @Test
  void placesHierarchically() {
    Parallelism split = new Parallelism(Kind.SPATIAL, List.of(2, 1));
    for (CountingTransport worker : step(split, 2)) {
      assertEquals(2 * weights(split, true), worker.shared().get());
      assertEquals(weights(split, true) / 2 + weights(split, false), worker.summed().get());
    }
  }

  /** To the leaders, over them, and back (ParaDL §3.5). */
  @Test
  void placesThroughLeaders() {
    Parallelism split = new Parallelism(Kind.SPATIAL, List.of(2, 1));
    var flat = step(split.with(Reduction.FLAT), 2);
    var led = step(split.with(Reduction.LEADERS), 2);
    long cut = weights(split, true);
    for (int worker = 0; worker < led.size(); worker++) {
      CountingTransport counted = led.get(worker);
      boolean leader = worker % 2 == 0;
      long before = flat.get(worker).handed().get(); // to neighbours, of maps
      assertEquals(leader ? 0 : cut, counted.handed().get() - before);
      assertEquals((leader ? cut : 0) + weights(split, false), counted.summed().get());
      assertEquals(cut, counted.communication().get());
    }
  }
}
