package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Workload;
import dev.pipewright.predict.paradl.Prediction.Impossible;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Setting.Exchange;
import dev.pipewright.predict.paradl.Setting.Formulas;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The published formulas against the table itself, on networks of a few layers. */
class PublishedFormulasTest {
  private static final long EPOCH = 960;
  private static final int BATCH = 48;

  private static Workload workload(int nodes, double ports) {
    return SmallNet.input(3, 16, 12)
        .convolution(8, 3, 1, 1)
        .relu()
        .convolution(12, 5, 1, 2)
        .pooling(2, 2)
        .convolution(16, 3, 1, 0)
        .connected(24)
        .on(SmallNet.nodes(nodes, ports), 7);
  }

  private static Setting setting(Workload workload, int group, int segments, double reuse) {
    return new Setting(
        workload,
        EPOCH,
        Formulas.PUBLISHED,
        Exchange.USUAL,
        group == 0 ? OptionalInt.empty() : OptionalInt.of(group),
        segments == 0 ? OptionalInt.empty() : OptionalInt.of(segments),
        OptionalDouble.of(reuse),
        Optional.empty());
  }

  private static Predicted predicted(Setting setting, Strategy strategy, int devices) {
    return assertInstanceOf(
        Predicted.class, new ParadlOracle(setting).predict(strategy, devices, BATCH));
  }

  private static void equal(TableThree.Row row, Predicted predicted) {
    double iterations = (double) EPOCH / BATCH;
    near(row.comp() / iterations, predicted.phases().compute());
    near(row.comm() / iterations, predicted.phases().communication());
    near(row.memory(), predicted.memory().total());
    near(row.comp() + row.comm(), predicted.epochSeconds().orElseThrow());
  }

  private static void near(double expected, double actual) {
    assertEquals(expected, actual, 1e-12 * expected);
  }

  @Test
  void serialIsItsRow() {
    Workload workload = workload(1, 1);
    TableThree table = new TableThree(workload, EPOCH, BATCH, 1, 0.6);
    equal(table.serial(), predicted(setting(workload, 0, 0, 0.6), Strategy.SERIAL, 1));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8, 16})
  void dataIsItsRow(int devices) {
    Workload workload = workload(4, 2);
    TableThree table = new TableThree(workload, EPOCH, BATCH, 2, 0.6);
    equal(table.data(devices), predicted(setting(workload, 0, 0, 0.6), Strategy.DATA, devices));
  }

  /** The grid is the one that exchanges least, so no other of the table's is faster. */
  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8})
  void spatialIsTheBestOfItsRows(int devices) {
    Workload workload = workload(2, 1);
    TableThree table = new TableThree(workload, EPOCH, BATCH, 1, 1);
    Predicted predicted = predicted(setting(workload, 0, 0, 1), Strategy.SPATIAL, devices);
    List<Integer> grid = predicted.layout().grid();
    equal(table.spatial(grid.get(0), grid.get(1)), predicted);
    for (int height = 1; height <= Math.min(devices, 8); height++) {
      if (devices % height == 0 && devices / height <= 6) {
        double comm = table.spatial(height, devices / height).comm();
        assertTrue(table.spatial(grid.get(0), grid.get(1)).comm() <= comm, grid.toString());
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"FILTER", "CHANNEL"})
  void filterAndChannelAreTheirRow(Strategy strategy) {
    Workload workload = workload(2, 1);
    TableThree table = new TableThree(workload, EPOCH, BATCH, 1, 0.9);
    for (int devices : new int[] {2, 4, 8}) {
      equal(table.filter(devices), predicted(setting(workload, 0, 0, 0.9), strategy, devices));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"DATA_FILTER", "DATA_CHANNEL"})
  void hybridsWithFilterAndChannelAreTheirRow(Strategy strategy) {
    for (int ports : new int[] {1, 2}) {
      Workload workload = workload(4, ports);
      TableThree table = new TableThree(workload, EPOCH, BATCH, ports, 1);
      for (int group : new int[] {2, 4}) {
        for (int devices : new int[] {8, 16}) {
          Predicted predicted = predicted(setting(workload, group, 0, 1), strategy, devices);
          equal(table.dataFilter((double) devices / group, group), predicted);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  void theHybridWithSpatialIsItsRow(int group) {
    Workload workload = workload(4, 2);
    TableThree table = new TableThree(workload, EPOCH, BATCH, 2, 1);
    Predicted predicted = predicted(setting(workload, group, 0, 1), Strategy.DATA_SPATIAL, 16);
    List<Integer> grid = predicted.layout().grid();
    equal(table.dataSpatial(16.0 / group, grid.get(0), grid.get(1)), predicted);
  }

  @Test
  void pipelineIsItsRowWithTheErrorOfFormulaTwelve() {
    Workload workload = workload(2, 1);
    for (int stages : new int[] {2, 3}) {
      for (int segments : new int[] {1, 4, 12}) {
        ParadlNetwork network = new ParadlNetwork(workload, Optional.empty());
        StageCut cut = network.stages(stages);
        int[] ends = new int[stages];
        for (int stage = 0; stage < stages; stage++) {
          ends[stage] = cut.end(stage) - 1; // the input is no layer of the table
        }
        TableThree table = new TableThree(workload, EPOCH, BATCH, 1, 1);
        Predicted predicted =
            predicted(setting(workload, 0, segments, 1), Strategy.PIPELINE, stages);
        equal(table.pipeline(segments, ends), predicted);
      }
    }
  }

  /** Printed: once for each sample and slot. Right: once in an iteration, as in the other rows. */
  @Test
  void theErrorOfFormulaTwelveIsCorrectedInTheOtherFormulas() {
    Workload workload = workload(2, 1);
    Setting published = setting(workload, 0, 4, 1);
    Setting corrected =
        new Setting(
            workload,
            EPOCH,
            Formulas.CORRECTED,
            Exchange.USUAL,
            OptionalInt.empty(),
            OptionalInt.of(4),
            OptionalDouble.empty(),
            Optional.empty());
    StageCut cut = new ParadlNetwork(workload, Optional.empty()).stages(2);
    double update = Math.max(cut.updateSeconds(0), cut.updateSeconds(1));
    double printed =
        predicted(published, Strategy.PIPELINE, 2).phases().seconds(Phase.WEIGHT_UPDATE);
    near(BATCH * (2 + 4 - 1) / 4.0 * update, printed);
    double right = predicted(corrected, Strategy.PIPELINE, 2).phases().seconds(Phase.WEIGHT_UPDATE);
    assertTrue(0 < right && right <= update * (1 + 1e-12), right + " of " + update);
  }

  @ParameterizedTest
  @EnumSource(names = {"ZERO1", "ZERO2", "ZERO3"})
  void shardedDataParallelismSendsAsMuchAndThePartOfItThatGathersWeights(Strategy strategy) {
    Workload workload = workload(4, 1);
    Setting setting = setting(workload, 0, 0, 1);
    double data = predicted(setting, Strategy.DATA, 16).phases().communication();
    double factor = strategy == Strategy.ZERO3 ? 1.5 : 1;
    near(factor * data, predicted(setting, strategy, 16).phases().communication());
  }

  /** Extents 16×12, 8×6 and 6×4 behind the third convolution: 8·6 = 48, and 8 and 6 by axis. */
  @Test
  void limitsAreThoseOfTheTable() {
    Workload workload = workload(16, 1);
    ParadlOracle oracle = new ParadlOracle(setting(workload, 0, 0, 1));
    assertEquals(1, limit(oracle, Strategy.SERIAL));
    assertEquals(BATCH, limit(oracle, Strategy.DATA));
    assertEquals(48, limit(oracle, Strategy.SPATIAL));
    assertEquals(8, limit(oracle, Strategy.FILTER));
    assertEquals(8, limit(oracle, Strategy.CHANNEL)); // from the second product on, not 3
    assertEquals(6, limit(oracle, Strategy.PIPELINE));
    assertEquals(8 * BATCH, limit(oracle, Strategy.DATA_FILTER));
    assertEquals(48 * BATCH, limit(oracle, Strategy.DATA_SPATIAL));
    for (Strategy strategy : List.of(Strategy.FILTER, Strategy.PIPELINE, Strategy.DATA)) {
      int most = limit(oracle, strategy);
      assertInstanceOf(Predicted.class, oracle.predict(strategy, most, BATCH), strategy.label());
      Impossible beyond =
          assertInstanceOf(Impossible.class, oracle.predict(strategy, most + 1, BATCH));
      assertTrue(beyond.why().startsWith((most + 1) + " devices are more than " + most));
    }
  }

  private static int limit(ParadlOracle oracle, Strategy strategy) {
    return oracle.predict(strategy, 1, BATCH).limits().get(0).devices();
  }

  @Test
  void noFactorOfAGridExceedsItsOwnExtent() {
    ParadlOracle oracle = new ParadlOracle(setting(workload(16, 1), 0, 0, 1));
    Predicted most = assertInstanceOf(Predicted.class, oracle.predict(Strategy.SPATIAL, 48, BATCH));
    assertEquals(List.of(8, 6), most.layout().grid());
    assertInstanceOf(Impossible.class, oracle.predict(Strategy.SPATIAL, 45, BATCH));
  }
}
