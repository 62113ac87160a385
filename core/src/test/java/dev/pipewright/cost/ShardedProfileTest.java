package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The second product of a perceptron: 8 numbers of a sample come in, 8 go out. */
class ShardedProfileTest {
  private static final String MODEL = "mlp:layers=2,hidden=8,in=4,classes=2";
  private static final int SAMPLES = 3;
  private static final double TENSORS = (8 + 8) * 4 * SAMPLES; // bytes

  /** What the worker of two needs while it computes, where one alone needs so many bytes. */
  private static double working(Kind kind, double alone) {
    LayerMemory memory = new LayerMemory(alone, 0, 0);
    Workload part = part(kind, new LayerTimes(1, 2, 1, 1), memory);
    return part.profile().memory(0).get(product(part.chain().graph())).working();
  }

  private static Workload part(Kind kind, LayerTimes times, LayerMemory memory) {
    LayerGraph graph = Models.find(MODEL).orElseThrow().graph();
    int layers = graph.size();
    Profile profile =
        new Profile(
            new Provenance("test", "test", "", true),
            Precision.FP32,
            Collections.nCopies(layers, new LayerSizes(32, 32, 288)),
            List.of(SAMPLES),
            List.of(Collections.nCopies(layers, times)),
            List.of(Collections.nCopies(layers, memory)));
    Workload whole =
        new Workload(
            Chain.of(graph),
            profile,
            new Training(Optimizer.SGD, Precision.FP32),
            Clusters.find("dapple-a:1x2").orElseThrow());
    return ShardedProfile.of(whole, Parallelism.of(kind, 2), false);
  }

  private static int product(LayerGraph graph) {
    return IntStream.range(0, graph.size())
        .filter(layer -> graph.layer(layer).name().startsWith("fc2"))
        .findFirst()
        .orElseThrow();
  }

  /** Both parts of a backward pass shrink like the whole. */
  @Test
  void partsOfABackwardPassAreSharedOutLikeTheWhole() {
    LayerTimes alone = new LayerTimes(1, 2, 1.5, 2.5, 1);
    Workload part = part(Kind.FILTER, alone, new LayerMemory(0, 0, 0));
    LayerTimes own = part.profile().times(0).get(product(part.chain().graph()));
    assertTrue(own.backward() < alone.backward(), own.toString());
    assertEquals(1.5 / 2 * own.backward(), own.inputGradient(), 1e-12);
    assertEquals(2.5 / 2 * own.backward(), own.weightGradient(), 1e-12);
  }

  @Test
  void filtersNeedWholeTensorsAndTheirShareOfTheRest() {
    assertEquals(TENSORS + 500, working(Kind.FILTER, TENSORS + 1000), 1e-9);
    assertEquals(TENSORS / 2, working(Kind.FILTER, TENSORS / 2), 1e-9);
  }

  @Test
  void channelsNeedAllOfIt() {
    assertEquals(TENSORS + 1000, working(Kind.CHANNEL, TENSORS + 1000), 1e-9);
  }
}
