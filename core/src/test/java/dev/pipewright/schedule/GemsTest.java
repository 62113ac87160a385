package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GemsTest {
  @Test
  void eachRankTakesOneMicroBatchAtATimeFromBothEndsInTurn() {
    assertEquals(
        """
        0 | 0F0 0B0 2F0 2B0 0F1 0B1 2F1 2B1
        1 | 1F0 1B0 1F0 1B0 1F1 1B1 1F1 1B1
        2 | 2F0 2B0 0F0 0B0 2F1 2B1 0F1 0B1
        """,
        Picture.ofChains(Gems.of(3, 4)));
  }

  @ParameterizedTest(name = "{0} ranks, {1} micro-batches")
  @CsvSource({"1, 2", "2, 2", "3, 8", "4, 4", "8, 32"})
  void takesTheTimeOfTheClosedForm(int ranks, int microBatches) {
    Schedule schedule = Gems.of(ranks, microBatches);
    Picture.assertRuns(schedule);
    double[] unit = new double[2 * ranks];
    Arrays.fill(unit, 1);
    Run run = StaticSimulator.run(schedule, OpTimes.of(unit, unit.clone(), unit.clone(), 0));
    assertEquals(3 * ranks + (microBatches - 1) * (2 * ranks + 1), run.makespan(), 1e-9);
  }

  @Test
  void anOddNumberOfMicroBatchesIsRefused() {
    Exception e = assertThrows(IllegalArgumentException.class, () -> Gems.of(4, 7));
    assertEquals(
        "gems has as many micro-batches in both directions: micro_batches=7 is odd; take 8",
        e.getMessage());
  }
}
