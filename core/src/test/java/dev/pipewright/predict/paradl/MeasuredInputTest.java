package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.Workload;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Measured profiles have times also of layers that compute nothing. */
class MeasuredInputTest {
  private static final double INPUT_SECONDS = 0.25;
  private static final int BATCH = 8;

  @Test
  void partsOfTheInputTakeAsLongAsTheWhole() {
    double without = seconds(0);
    assertTrue(without > 0);
    assertEquals(INPUT_SECONDS, seconds(INPUT_SECONDS) - without, 1e-6);
  }

  private static Profile withInput(Workload workload, double input) {
    Profile roofline =
        Roofline.profile(
            workload.chain().graph(), workload.cluster(), workload.training(), List.of(BATCH));
    List<LayerTimes> times = new ArrayList<>(roofline.times(0));
    times.set(0, new LayerTimes(input, 0, 0, 0));
    List<LayerSizes> sizes =
        IntStream.range(0, roofline.layers()).mapToObj(roofline::sizes).toList();
    return new Profile(
        roofline.provenance(), roofline.precision(), sizes, roofline.samples(), List.of(times));
  }

  /** Seconds that two devices compute. */
  private static double seconds(double input) {
    Workload net =
        SmallNet.input(3, 8, 8).convolution(8, 3, 1, 1).connected(10).on(SmallNet.nodes(1, 2), 1);
    Workload measured =
        new Workload(net.chain(), withInput(net, input), net.training(), net.cluster());
    Setting setting = Setting.of(measured, 1000);
    Prediction prediction = new ParadlOracle(setting).predict(Strategy.SPATIAL, 2, BATCH);
    return assertInstanceOf(Predicted.class, prediction).phases().seconds(Phase.FORWARD_BACKWARD);
  }
}
