package dev.pipewright.predict.paradl;

import static dev.pipewright.predict.paradl.StrategyEstimates.bytesPerSecond;
import static dev.pipewright.predict.paradl.StrategyEstimates.copied;
import static dev.pipewright.predict.paradl.StrategyEstimates.formulas;
import static dev.pipewright.predict.paradl.StrategyEstimates.near;
import static dev.pipewright.predict.paradl.StrategyEstimates.predicted;
import static dev.pipewright.predict.paradl.StrategyEstimates.setting;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Workload;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Setting.Exchange;
import dev.pipewright.predict.paradl.Setting.Formulas;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What devices of a strategy send each other: volumes counted by hand. */
class SplitCommunicationTest {
  /** Σ|w| and Σ|bi| around one ring of eight; a quarter of them around four rings of two. */
  @Test
  void gradientsAreSummedWhereTheSameWeightsAre() {
    Workload workload =
        SmallNet.input(3, 8, 8).convolution(8, 3, 1, 1).connected(12).on(SmallNet.nodes(2, 1), 1);
    Setting ring = setting(workload, 0, Exchange.RING);
    double bytes = 4 * (3 * 9 * 8 + 8 + (512 + 1) * 12);
    near(
        2 * 7 * (1e-5 + bytes / 8 / 1e10),
        predicted(ring, Strategy.DATA, 8, 24).phases().seconds(Phase.GRADIENT_EXCHANGE));
    assertEquals(
        0, predicted(ring, Strategy.FILTER, 4, 24).phases().seconds(Phase.GRADIENT_EXCHANGE));
    Predicted hybrid = predicted(ring, Strategy.DATA_FILTER, 8, 24);
    near(
        2 * (1e-5 + 4 * (bytes / 4) / 2 / 1e10), // four rings share the port: φ = 4
        hybrid.phases().seconds(Phase.GRADIENT_EXCHANGE));
  }

  /** ParaDL §4.3: nodes of four devices with two ports. */
  @Test
  void fourRingsThatShareTwoPortsHaveAContentionOfTwo() {
    Workload workload = SmallNet.input(3, 8, 8).convolution(8, 3, 1, 1).on(SmallNet.nodes(2, 2), 1);
    Layout layout = Layout.of(Strategy.DATA_FILTER, 2, 4);
    for (Formulas formulas : Formulas.values()) {
      assertEquals(2, formulas(workload, formulas).estimate(layout, 24).contention());
    }
    Layout data = Layout.of(Strategy.DATA, 2, 1);
    assertEquals(
        1, formulas(workload, Formulas.CORRECTED).estimate(data, 24).contention(), "one ring");
  }

  /**
   * Positions of its neighbours that a part in the middle of the grid reads, one by one: rows
   * first, then columns with the corners that the rows have brought.
   */
  private static long positionsRead(int height, int width, int kernel, int rows, int columns) {
    int reach = kernel / 2;
    int top = height / rows;
    int left = width / columns;
    int bottom = 2 * height / rows;
    int right = 2 * width / columns;
    long count = 0;
    for (int y = 0; y < height; y++) {
      for (int x = 0; x < width; x++) {
        boolean inRows = top <= y && y < bottom;
        boolean inColumns = left <= x && x < right;
        boolean read =
            top - reach <= y && y < bottom + reach && left - reach <= x && x < right + reach;
        count += read && !(inRows && inColumns) ? 1 : 0;
      }
    }
    return count;
  }

  @RepeatedTest(value = 50, name = SmallNet.SEEDED)
  void halosAreThePositionsThatAPartReadsBeyondItsOwn(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int rows = random.nextInt(3, 5);
    int columns = random.nextInt(3, 5);
    int height = rows * random.nextInt(6, 9);
    int width = columns * random.nextInt(6, 9);
    int kernel = 2 * random.nextInt(0, 4) + 1;
    int channels = random.nextInt(1, 4);
    int filters = random.nextInt(1, 9);
    Workload workload =
        SmallNet.input(channels, height, width)
            .convolution(filters, kernel, 1, kernel / 2)
            .relu()
            .on(bytesPerSecond(rows * columns), 1);
    long batch = random.nextInt(1, 9);
    List<Integer> grid = List.of(rows, columns);
    Layout layout = Layout.spatial(Strategy.SPATIAL, 1, grid);
    double seconds =
        formulas(workload, Formulas.CORRECTED).estimate(layout, batch).phases().seconds(Phase.HALO);
    long positions = positionsRead(height, width, kernel, rows, columns);
    assertEquals((double) positions * channels * batch * 4, seconds, 1e-6);
  }

  /**
   * Two parts have one neighbour each: a row of x forward, and the gradients of it back where
   * anything needs them.
   */
  @Test
  void twoPartsExchangeOneBorder() {
    Workload workload =
        SmallNet.input(3, 8, 6)
            .convolution(5, 3, 1, 1)
            .convolution(2, 3, 1, 1)
            .on(bytesPerSecond(2), 1);
    Layout layout = Layout.spatial(Strategy.SPATIAL, 1, List.of(2, 1));
    Phases phases = formulas(workload, Formulas.CORRECTED).estimate(layout, 7).phases();
    assertEquals(7 * 4 * 6 * (3 + 2 * 5), phases.seconds(Phase.HALO), 1e-9);
  }

  /** Behind the last split layer once: three steps with a quarter of its output. */
  @Test
  void whatIsSplitIsGatheredOnce() {
    Workload workload =
        SmallNet.input(3, 8, 8)
            .convolution(6, 3, 1, 1)
            .relu()
            .connected(10)
            .connected(5)
            .on(bytesPerSecond(4), 1);
    Phases phases = predicted(workload, Strategy.SPATIAL, 4).phases();
    double output = 24 * 4 * 6 * 8 * 8;
    assertEquals(
        3.0 / 4 * output + copied(workload, output), phases.seconds(Phase.LAYER_ALL_GATHER), 1e-6);
    double convolution = 4 * (3 * 9 * 6 + 6); // connected layers' gradients are alike already
    assertEquals(2 * 3.0 / 4 * convolution, phases.seconds(Phase.GRADIENT_EXCHANGE), 1e-6);
  }

  @ParameterizedTest
  @EnumSource(names = {"RING", "TREE", "HIERARCHICAL", "LEADER", "CHEAPEST"})
  void noAlgorithmIsCheaperThanTheCheapest(Exchange exchange) {
    for (Strategy strategy : List.of(Strategy.DATA, Strategy.DATA_FILTER, Strategy.DATA_SPATIAL)) {
      Workload workload =
          SmallNet.input(3, 16, 16)
              .convolution(64, 5, 1, 2)
              .connected(200)
              .on(SmallNet.nodes(4, 1), 1);
      double cheapest =
          predicted(setting(workload, 0, Exchange.CHEAPEST), strategy, 16, 64).iterationSeconds();
      double other = predicted(setting(workload, 0, exchange), strategy, 16, 64).iterationSeconds();
      assertTrue(cheapest <= other * (1 + 1e-12), strategy + ": " + cheapest + " > " + other);
    }
  }
}
