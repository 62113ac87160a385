package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.Split;
import dev.pipewright.plan.Split.Kind;
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
class TeamProfileTest {
  private static final String MODEL = "mlp:layers=2,hidden=8,in=4,classes=2";
  private static final int SAMPLES = 3;
  private static final double TENSORS = (8 + 8) * 4 * SAMPLES; // bytes

  /** What the worker of two needs while it computes, where one alone needs so many bytes. */
  private static double working(Kind kind, double alone) {
    LayerGraph graph = Models.find(MODEL).orElseThrow().graph();
    int layers = graph.size();
    Profile profile =
        new Profile(
            new Provenance("test", "test", "", true),
            Precision.FP32,
            Collections.nCopies(layers, new LayerSizes(32, 32, 288)),
            List.of(SAMPLES),
            List.of(Collections.nCopies(layers, new LayerTimes(1, 2, 1, 1))),
            List.of(Collections.nCopies(layers, new LayerMemory(alone, 0, 0))));
    Workload whole =
        new Workload(
            Chain.of(graph),
            profile,
            new Training(Optimizer.SGD, Precision.FP32),
            Clusters.find("dapple-a:1x2").orElseThrow());
    int product =
        IntStream.range(0, layers)
            .filter(layer -> graph.layer(layer).name().startsWith("fc2"))
            .findFirst()
            .orElseThrow();
    return TeamProfile.of(whole, Split.of(kind, 2)).profile().memory(0).get(product).working();
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
