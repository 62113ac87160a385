package dev.pipewright.app.report.text;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Throughput;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.units.Precision;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class TrainingLinesTest {
  private static String lines(double utilization, boolean fastConvolutions) {
    Throughput rate =
        new Throughput(
            845,
            OptionalDouble.empty(),
            OptionalDouble.of(19.6e12),
            OptionalDouble.of(utilization),
            fastConvolutions);
    return TrainingLines.of(
        new TrainingFigures(
            new Training(Optimizer.MOMENTUM, Precision.FP32),
            OptionalDouble.empty(),
            64,
            List.of(64),
            Optional.of(rate)),
        200,
        false);
  }

  @Test
  void aShareOfThePeakAboveOneIsExplained() {
    assertTrue(lines(0.62, true).contains(" 62.0 % of its peak\n"));
    assertTrue(
        lines(1.247, true)
            .contains("124.7 % of its peak, since fast convolutions multiply less than the model"));
    assertTrue(lines(1.247, false).contains("its times and the cluster's peak are not of one"));
  }

  @Test
  void aBatchIsNamedOnce() {
    assertTrue(
        lines(0.5, false).contains("64 samples, the global batch; micro-batches of 64 per rank"));
  }
}
