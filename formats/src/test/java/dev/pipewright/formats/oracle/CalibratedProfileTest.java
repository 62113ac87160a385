package dev.pipewright.formats.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.machine.MachineClusters;
import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.predict.transformer.PredictedRun;
import dev.pipewright.predict.transformer.RecomputePolicy;
import dev.pipewright.predict.transformer.RunChoices;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TrainingPrecision;
import dev.pipewright.predict.transformer.TransformerPhases;
import dev.pipewright.profile.Profile;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.Transformers;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The layers that plans are priced by, against the predicted step of a stated layout. */
class CalibratedProfileTest {
  private static final Training HALF = new Training(Optimizer.ADAM, Precision.BF16);

  private static TransformerShape shape(String name) {
    TransformerShape found = Transformers.find(name).orElseThrow().shape();
    return found.withSequence(found.usualSequence());
  }

  private static Optional<Profile> profile(String name, String cluster, Training training) {
    LayerGraph graph = Models.find(name).orElseThrow().graph();
    Cluster on = Clusters.find(cluster).or(() -> MachineClusters.find(cluster)).orElseThrow();
    return CalibratedProfile.of(shape(name), on, training)
        .flatMap(found -> found.profile(graph, List.of(1, 2, 4)));
  }

  @Test
  void itsSourceSaysThatOnlyLayersAreCalibrated() {
    assertEquals(
        "derived: exchanges from latencies and bandwidths that the cluster states, layers from constants calibrated for megatron-bridge, h100-80g-8x3200g:1x1",
        profile("llama3-8b", "h100:1x1", HALF).orElseThrow().provenance().toString());
  }

  @ParameterizedTest
  @CsvSource({
    "llama3-8b, h100:1x1, 1",
    "llama3-8b, h100:1x1, 4",
    "qwen3-4b, a100:1x1, 2",
    "mixtral-8x7b, b200:1x1, 1",
    "deepseek-v2-lite, h200:1x1, 2"
  })
  void layersTakeWhatTheStepsLayersTake(String name, String cluster, int slice) {
    Profile profile = profile(name, cluster, HALF).orElseThrow();
    double layers = 0;
    double update = 0;
    for (int layer = 0; layer < profile.layers(); layer++) {
      layers += profile.seconds(Profile.Quantity.FORWARD, slice)[layer];
      layers += profile.seconds(Profile.Quantity.BACKWARD, slice)[layer];
      update += profile.seconds(Profile.Quantity.UPDATE, slice)[layer];
    }
    MachineSheets sheets = MachineSheets.read();
    Cluster on = MachineClusters.find(cluster).orElseThrow();
    TransformerPhases phases =
        PredictedRun.of(
                new RunChoices(
                        shape(name),
                        sheets.of(on).orElseThrow(),
                        sheets.usualFramework(on),
                        new TrainingLayout(1, 1, 1, 1, 1, 1, 1, 0, 1, false, false, slice, slice),
                        Optional.empty(),
                        TrainingPrecision.BF16,
                        true,
                        new RecomputePolicy.None(),
                        Optional.empty(),
                        0,
                        0)
                    .run(),
                CalibratedConstantsJson.read())
            .step()
            .phases();
    double expected = phases.layers().total() + phases.ends();
    assertEquals(expected, layers, 1e-9 * expected);
    assertEquals(phases.optimizer(), update, 0.02 * update); // the step counts no norms
  }

  @Test
  void largerSlicesTakeLessForASample() {
    Profile profile = profile("llama3-8b", "h100:1x1", HALF).orElseThrow();
    double one = profile.seconds(Profile.Quantity.FORWARD, 1)[1];
    double four = profile.seconds(Profile.Quantity.FORWARD, 4)[1];
    assertTrue(four < 4 * one && four > 2 * one, one + " and " + four);
  }

  @Test
  void otherDevicesAndPrecisionsHaveNone() {
    assertEquals(Optional.empty(), profile("llama3-8b", "dapple-a", HALF));
    Training wide = new Training(Optimizer.ADAM, Precision.FP32);
    assertEquals(Optional.empty(), profile("llama3-8b", "h100:1x1", wide));
  }
}
