package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.AllReduceAlgorithm;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Software;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Training;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the software of a machine adds to a prediction, and what switched-off layers cost. */
class SoftwareTest {
  private static final double DUST = 1e-12;
  private static final Cluster NODES = SmallNet.nodes(4, 1);
  private static final SmallNet NET =
      SmallNet.input(4, 8, 8).convolution(8, 3, 1, 1).convolution(8, 3, 1, 1);

  private static Predicted predict(Software software, Strategy strategy, int devices) {
    Workload workload = NET.on(NODES.withSoftware(software), 1);
    ParadlOracle oracle = new ParadlOracle(Setting.of(workload, 1000));
    return assertInstanceOf(Predicted.class, oracle.predict(strategy, devices, 64));
  }

  @Test
  void devicesWaitAShareOfTheirArithmeticUnlessThereIsOnlyOne() {
    Software waits = new Software(0.25, true, true);
    Phases many = predict(waits, Strategy.DATA, 8).phases();
    assertEquals(0.25 * many.seconds(Phase.FORWARD_BACKWARD), many.seconds(Phase.WAITING), DUST);
    assertEquals(0, predict(waits, Strategy.DATA, 1).phases().seconds(Phase.WAITING));
    assertEquals(0, predict(Software.IDEAL, Strategy.DATA, 8).phases().seconds(Phase.WAITING));
  }

  /** Four groups of four: each part is summed by a ring of four, in one message or in two. */
  @Test
  void groupsSumGradientsInOneMessageOrLayerByLayer() {
    int[][] peers = {{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}};
    Collectives rings = Collectives.achieved(NODES, peers);
    double first = 4 * (4 * 8 * 9 + 8) / 4.0; // bytes of a quarter of the filters and biases
    double second = 4 * (8 * 8 * 9 + 8) / 4.0;
    Software ring = SmallNet.WITHOUT_OVERLAP.with(AllReduceAlgorithm.RING);
    Software apart = new Software(0, false, true).with(AllReduceAlgorithm.RING).withOverlap(0);
    Phases fused = predict(ring, Strategy.DATA_FILTER, 16).phases();
    Phases single = predict(apart, Strategy.DATA_FILTER, 16).phases();
    assertEquals(rings.ringAllReduce(first + second), fused.seconds(Phase.GRADIENT_EXCHANGE), DUST);
    assertEquals(
        rings.ringAllReduce(first) + rings.ringAllReduce(second),
        single.seconds(Phase.GRADIENT_EXCHANGE),
        DUST);
  }

  @Test
  void whatAllDevicesSumTravelsInOneMessageInAnyCase() {
    Software apart = new Software(0, false, true);
    assertEquals(
        predict(Software.IDEAL, Strategy.DATA, 16).iterationSeconds(),
        predict(apart, Strategy.DATA, 16).iterationSeconds());
  }

  @Test
  void onlyConvolutionsThatSuitWinogradAreSlowerWithoutIt() {
    Cluster plain = Clusters.find("dapple-a").orElseThrow();
    Cluster slow = plain.withSoftware(new Software(0, true, false));
    assertTrue(seconds("vgg-16", slow) > 1.5 * seconds("vgg-16", plain));
    assertEquals(seconds("bert-48", plain), seconds("bert-48", slow));
  }

  private static double seconds(String model, Cluster cluster) {
    var zoo = Models.find(model).orElseThrow();
    Training training = zoo.training();
    Profile profile = Roofline.profile(zoo.graph(), cluster, training, List.of(8));
    return Arrays.stream(profile.seconds(Quantity.FORWARD, 8)).sum();
  }

  /**
   * A split layer that follows a whole one slices what it reads and gathers the gradient of it; the
   * loss reads its whole output.
   */
  @Test
  void aSplitLayerBehindAWholeOneGathersItsGradient() {
    Workload workload = NET.on(NODES, 1);
    Setting usual = Setting.of(workload, 1000);
    Setting second =
        new Setting(
            workload,
            1000,
            usual.formulas(),
            usual.exchange(),
            usual.groupSize(),
            usual.segments(),
            usual.memoryReuse(),
            Optional.of(List.of(true, false, true)));
    Predicted answer =
        assertInstanceOf(Predicted.class, new ParadlOracle(second).predict(Strategy.SPATIAL, 4, 2));
    Collectives group = Collectives.achieved(NODES, new int[] {0, 1, 2, 3});
    double read = 2 * 8 * 8 * 8 * 4.0; // samples, channels, positions, bytes
    double joined = 2 * read / (0.7 * NODES.device(0).memoryBandwidth().value());
    double output = read; // as many filters as channels
    assertEquals(
        group.allGather(read) + group.allGather(output) + 2 * joined,
        answer.phases().seconds(Phase.LAYER_ALL_GATHER),
        DUST);
  }
}
