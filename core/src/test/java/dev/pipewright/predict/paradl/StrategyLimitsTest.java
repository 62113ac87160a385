package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Samples;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.predict.paradl.Prediction.Impossible;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Setting.Exchange;
import dev.pipewright.predict.paradl.Setting.Formulas;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Where each strategy ends, and that its end is said and not thrown. */
class StrategyLimitsTest {
  private static final Workload NET =
      SmallNet.input(3, 10, 6)
          .convolution(12, 3, 1, 1)
          .pooling(2, 2)
          .convolution(10, 3, 1, 1)
          .relu()
          .connected(20)
          .on(SmallNet.nodes(32, 1), 1);

  private static ParadlOracle oracle(Workload workload) {
    return new ParadlOracle(Setting.of(workload, 1000));
  }

  /** The corrected formulas split positions from the first layer on, and gather where they end. */
  @ParameterizedTest
  @CsvSource({
    "SERIAL, 1, one device has the whole network",
    "DATA, 32, a device or group needs a sample of the batch of 32",
    "ZERO3, 32, a device or group needs a sample of the batch of 32",
    "FILTER, 10, convolution3 has 10 filters",
    "CHANNEL, 12, convolution3 has 12 input channels",
    "SPATIAL, 60, convolution1 has 60 positions",
    "PIPELINE, 5, the network can be cut into 5 stages",
    "DATA_FILTER, 320, a device or group needs a sample of the batch of 32; in a group convolution3"
        + " has 10 filters"
  })
  void theSmallestLayerIsNamed(Strategy strategy, int most, String why) {
    ScalingLimit limit = oracle(NET).predict(strategy, 1, 32).limits().get(0);
    assertEquals(new ScalingLimit("scaling", most, why), limit);
  }

  @ParameterizedTest
  @EnumSource
  void moreDevicesThanTheLimitAreImpossibleAndNeverAnException(Strategy strategy) {
    ParadlOracle oracle = oracle(NET);
    for (long batch : new long[] {1, 7, 32, 1_000_000}) {
      for (int devices = 1; devices <= 128; devices++) {
        Prediction prediction = oracle.predict(strategy, devices, batch);
        ScalingLimit limit = prediction.limits().get(0);
        switch (prediction) {
          case Predicted predicted -> {
            assertTrue(devices <= limit.devices());
            assertEquals(devices, predicted.devices());
            assertTrue(Double.isFinite(predicted.iterationSeconds()));
            assertTrue(predicted.memory().total() > 0);
          }
          case Impossible impossible -> {
            boolean tooMany = devices > limit.devices();
            String words =
                limit.kind().equals("shape") || limit.devices() == 0
                    ? strategy.split() == Strategy.Split.EXPERTS
                        ? "no mixture of experts"
                        : "no transformer block"
                    : tooMany ? " are more than " : "no way to cut " + batch + " samples";
            assertTrue(impossible.why().contains(words), impossible.why());
            assertEquals(tooMany, impossible.why().contains(limit.why()), impossible.why());
          }
        }
      }
    }
  }

  @Test
  void aNetworkWithoutChannelsHasNoChannelParallelism() {
    Workload recorded =
        new Workload(
            Chain.of(Samples.chain(3)),
            Samples.profile(new SplittableRandom(1), 3),
            NET.training(),
            NET.cluster());
    for (Strategy strategy : List.of(Strategy.FILTER, Strategy.CHANNEL, Strategy.SPATIAL)) {
      Impossible answer =
          assertInstanceOf(Impossible.class, oracle(recorded).predict(strategy, 2, 32));
      assertEquals("shape", answer.limits().get(0).kind());
      assertEquals(0, answer.limits().get(0).devices());
      assertTrue(answer.why().matches("(no|the network has no) layer .*"), answer.why());
    }
  }

  @Test
  void switchesMoveTheLimit() {
    Setting usual = Setting.of(NET, 1000);
    List<Boolean> firstOnly = List.of(false, true, true, false, true, false);
    Setting switched =
        new Setting(
            NET,
            1000,
            usual.formulas(),
            usual.exchange(),
            usual.groupSize(),
            usual.segments(),
            usual.memoryReuse(),
            Optional.of(firstOnly));
    ScalingLimit limit = new ParadlOracle(switched).predict(Strategy.FILTER, 1, 32).limits().get(0);
    assertEquals(new ScalingLimit("scaling", 12, "convolution1 has 12 filters"), limit);
  }

  @Test
  void aGroupFillsANodeOrWhatDividesTheDevices() {
    assertEquals(Layout.of(Strategy.DATA_FILTER, 4, 4), layout(16));
    assertEquals(Layout.of(Strategy.DATA_FILTER, 3, 4), layout(12));
    assertEquals(Layout.of(Strategy.DATA_FILTER, 5, 1), layout(5));
    assertEquals(Layout.of(Strategy.DATA_FILTER, 1, 3), layout(3));
  }

  private static Layout layout(int devices) {
    Prediction prediction = oracle(NET).predict(Strategy.DATA_FILTER, devices, 32);
    return assertInstanceOf(Predicted.class, prediction).layout();
  }

  @Test
  void questionsThatMakeNoSenseAreRefused() {
    ParadlOracle oracle = oracle(NET);
    assertEquals(
        "devices must be in 1..size of the cluster: devices=0, size=128",
        refusal(() -> oracle.predict(Strategy.DATA, 0, 32)));
    assertEquals(
        "devices must be in 1..size of the cluster: devices=129, size=128",
        refusal(() -> oracle.predict(Strategy.DATA, 129, 32)));
    assertEquals(
        "a batch has samples: batch=0", refusal(() -> oracle.predict(Strategy.DATA, 1, 0)));
    assertEquals("an epoch has samples: samples=0", refusal(() -> Setting.of(NET, 0)));
    assertEquals(
        "one switch per layer: switches=1, layers=6",
        refusal(() ->
            new Setting(
                NET,
                1,
                Formulas.CORRECTED,
                Exchange.USUAL,
                OptionalInt.empty(),
                OptionalInt.empty(),
                OptionalDouble.empty(),
                Optional.of(List.of(true)))));
  }

  private static String refusal(Runnable question) {
    var thrown = assertThrows(IllegalArgumentException.class, question::run);
    return String.valueOf(thrown.getMessage());
  }
}
