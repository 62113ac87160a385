package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.model.Work;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class RooflineTest {
  private static final DeviceKind V100 = Clusters.v100();
  private static final Training FP32 = new Training(Optimizer.ADAM, Precision.FP32);
  private static final Training MIXED = new Training(Optimizer.ADAM, Precision.FP16);

  private static double total(Profile profile, Quantity quantity, int samples) {
    return Arrays.stream(profile.seconds(quantity, samples)).sum();
  }

  /**
   * Milliseconds of all layers but the input, forward and backward, in the profiles that the
   * authors of DAPPLE published, on a V100 in 32 bits. GNMT-16 was measured with sentences of 35
   * and 36 tokens; its times are taken in proportion to the zoo's 50.
   *
   * <pre>
   *                samples   measured          derived / measured
   *                          forward backward   forward backward both
   *   gnmt-16           64      90.3    158.6      0.96     1.05 1.02
   *   bert-48            2     129.2    214.6      0.97     1.14 1.08
   *   xlnet-36           1     122.9    177.8      0.85     1.07 0.98
   *   amoebanet-36       1      48.7    119.4      0.98     0.92 0.94
   *   vgg-19            32      48.0     96.2      1.10     0.95 1.00
   * </pre>
   */
  @ParameterizedTest
  @CsvSource({
    "gnmt-16, 90.3, 158.6, 1.408",
    "bert-48, 129.2, 214.6, 1",
    "xlnet-36, 122.9, 177.8, 1",
    "amoebanet-36, 48.7, 119.4, 1",
    "vgg-19, 48.0, 96.2, 1"
  })
  void sumsAreNearWhatWasMeasured(String name, double forward, double backward, double scale) {
    ZooModel model = Models.find(name).orElseThrow();
    int samples = model.samples();
    Profile profile = Roofline.profile(model.graph(), V100, model.training(), List.of(samples));
    double derivedForward = 1e3 * total(profile, Quantity.FORWARD, samples);
    double derivedBackward = 1e3 * total(profile, Quantity.BACKWARD, samples);
    assertEquals(1, derivedForward / (scale * forward), 0.2, "forward");
    assertEquals(1, derivedBackward / (scale * backward), 0.2, "backward");
    assertEquals(1, (derivedForward + derivedBackward) / (scale * (forward + backward)), 0.1);
  }

  @ParameterizedTest
  @MethodSource("dev.pipewright.zoo.Models#names")
  void moreSamplesTakeLongerButLessEach(String name) {
    LayerGraph graph = Models.find(name).orElseThrow().graph();
    List<Integer> slices = List.of(1, 2, 4, 8, 16, 32);
    Profile profile = Roofline.profile(graph, V100, FP32, slices);
    for (int i = 1; i < slices.size(); i++) {
      for (Quantity quantity : List.of(Quantity.FORWARD, Quantity.BACKWARD)) {
        double[] fewer = profile.seconds(quantity, slices.get(i - 1));
        double[] more = profile.seconds(quantity, slices.get(i));
        for (int layer = 0; layer < fewer.length; layer++) {
          assertTrue(more[layer] >= fewer[layer], graph.layer(layer).name());
          assertTrue(more[layer] <= 2 * fewer[layer] + 1e-15, graph.layer(layer).name());
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("dev.pipewright.zoo.Models#names")
  void tensorCoresAreFasterAndHalveTheSizes(String name) {
    LayerGraph graph = Models.find(name).orElseThrow().graph();
    Profile single = Roofline.profile(graph, V100, FP32, List.of(8));
    Profile mixed = Roofline.profile(graph, V100, MIXED, List.of(8));
    assertTrue(total(mixed, Quantity.FORWARD, 8) < total(single, Quantity.FORWARD, 8));
    assertTrue(total(mixed, Quantity.BACKWARD, 8) < total(single, Quantity.BACKWARD, 8));
    for (int layer = 0; layer < graph.size(); layer++) {
      assertEquals(single.sizes(layer).parameters(), 2 * mixed.sizes(layer).parameters());
      assertEquals(single.sizes(layer).output(), 2 * mixed.sizes(layer).output());
      assertEquals(single.sizes(layer).kept(), 2 * mixed.sizes(layer).kept());
    }
  }

  @Test
  void provenanceSaysThatNothingWasMeasured() {
    Profile profile =
        Roofline.profile(Models.find("vgg-19").orElseThrow().graph(), V100, FP32, List.of(1));
    assertFalse(profile.provenance().measured());
    assertEquals("derived: roofline of zoo shapes, V100-16GB", profile.provenance().toString());
    assertTrue(profile.splitsBackward());
  }

  /** A product of so many rows that neither weights nor launches count runs at its efficiency. */
  @Test
  void largeProductsReachTheirShareOfThePeak() {
    int samples = 1 << 20;
    double seconds = product(FP32).seconds(Quantity.FORWARD, samples)[0];
    double flop = 2.0 * 4096 * 4096 * samples;
    assertEquals(Roofline.MATRIX, flop / seconds / V100.fp32().value(), 0.001);
  }

  /** One row has to stream 64 MiB of weights. */
  @Test
  void oneRowTakesAboutAsLongAsReadingTheWeights() {
    double seconds = product(FP32).seconds(Quantity.FORWARD, 1)[0];
    double streamed = 4.0 * 4096 * 4096 / (Roofline.MEMORY * V100.memoryBandwidth().value());
    assertEquals(streamed + Roofline.LAUNCH, seconds, 0.1 * streamed);
  }

  /** Adam in 32 bits reads weight, gradient and two moments and writes all but the gradient. */
  @Test
  void anUpdateMovesTheOptimizersState() {
    double seconds = product(FP32).seconds(Quantity.UPDATE, 1)[0];
    double rate = Roofline.MEMORY * V100.memoryBandwidth().value();
    assertEquals(28.0 * 4096 * 4096 / rate, seconds, 1e-12);
  }

  @Test
  void aLayerOfUnknownWorkCostsItsWeightsAndALaunch() {
    Layer layer =
        new Layer("x", new Operator.Recorded("x"), Optional.empty(), 0, 10, 20, Work.NONE);
    Profile profile =
        Roofline.profile(LayerGraph.chain("x", List.of(layer)), V100, FP32, List.of(3));
    assertEquals(Roofline.LAUNCH, profile.seconds(Quantity.FORWARD, 3)[0]);
    assertEquals(80, profile.sizes(0).kept());
  }

  private static Profile product(Training training) {
    double flop = 2.0 * 4096 * 4096;
    Layer layer =
        new Layer(
            "product",
            new Operator.Linear(4096, 4096, false),
            Optional.empty(),
            4096L * 4096,
            4096,
            4096,
            new Work(flop, flop, flop, 0));
    LayerGraph graph = LayerGraph.chain("product", List.of(layer));
    return Roofline.profile(graph, V100, training, List.of(1, 1 << 20));
  }
}
