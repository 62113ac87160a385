package dev.pipewright.formats.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerPrediction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Predictions against runs that were measured and published. */
class MeasuredStepsTest {
  private static final CalibratedConstants CONSTANTS = CalibratedConstantsJson.read();
  private static final TrainingRuns RUNS = new TrainingRuns(MachineSheets.read());

  private static List<TrainingRow> rows(String name) {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(folder), "measured", name);
    assumeTrue(Files.exists(file), "no reference table " + file);
    TrainingTable table = TrainingTable.read(file);
    assertEquals(List.of(), table.unknown());
    return table.rows();
  }

  private static TransformerPrediction predicted(TrainingRow row) {
    return TransformerOracle.predict(RUNS.of(row), CONSTANTS);
  }

  private static double mean(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({
    "megatron-a100-multi-node.csv, 7.5, 4.5",
    "fsdp-mpt.csv, 4.0, 3.0",
    "dense.csv, 6.0, 5.0",
    "moe.csv, 15.0, 12.0"
  })
  void stepsAreOffByFewPerCentAndWithinTheirIntervals(
      String name, double mostMean, double mostMedian) {
    List<Double> errors = new ArrayList<>();
    int inside = 0;
    for (TrainingRow row : rows(name)) {
      TransformerPrediction predicted = predicted(row);
      double seconds = predicted.iterationSeconds();
      assertTrue(seconds > 0 && Double.isFinite(seconds), row.id());
      if (row.isFilled("unknown")) { // the source leaves a setting out
        continue;
      }
      double measured = row.number("iteration_s", Double.NaN);
      errors.add(100 * Math.abs(seconds / measured - 1));
      inside +=
          predicted.shortestSeconds() <= measured && measured <= predicted.longestSeconds() ? 1 : 0;
    }
    errors.sort(Double::compare);
    int size = errors.size();
    double median = (errors.get((size - 1) / 2) + errors.get(size / 2)) / 2;
    assertTrue(mean(errors) <= mostMean, name + " mean " + mean(errors));
    assertTrue(median <= mostMedian, name + " median " + median);
    double covered = (double) inside / size;
    assertTrue(0.85 <= covered && covered <= 0.97, name + " intervals cover " + covered);
  }

  @Test
  void peaksOfMegatronsLoggedRankAreOffByFewPerCent() {
    Map<String, List<Double>> all = new TreeMap<>();
    Map<String, List<Double>> large = new TreeMap<>();
    int ran = 0;
    int fit = 0;
    for (TrainingRow row : rows("megatron-golden-memory.csv")) {
      TransformerPrediction predicted = predicted(row);
      if (row.count("run", 1) != 1 || !row.isFilled("devices") || row.flag("history", false)) {
        continue;
      }
      double measured = Double.parseDouble(row.text("max_allocated_bytes"));
      double error = 100 * Math.abs(predicted.logged().total() / measured - 1);
      String configuration = row.text("configuration") + row.text("large");
      all.computeIfAbsent(configuration, any -> new ArrayList<>()).add(error);
      if (row.flag("large", false)) {
        large.computeIfAbsent(configuration, any -> new ArrayList<>()).add(error);
      }
      ran++;
      fit += predicted.fits() ? 1 : 0;
    }
    double ofAll = mean(all.values().stream().map(MeasuredStepsTest::mean).toList());
    double ofLarge = mean(large.values().stream().map(MeasuredStepsTest::mean).toList());
    assertTrue(ofLarge <= 8, "large configurations " + ofLarge);
    assertTrue(ofAll <= 12, "all configurations " + ofAll);
    assertTrue(fit >= 0.97 * ran, fit + " of " + ran + " are said to fit");
  }
}
