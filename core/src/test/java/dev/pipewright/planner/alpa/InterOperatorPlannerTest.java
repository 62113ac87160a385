package dev.pipewright.planner.alpa;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.planner.alpa.InterOperatorPlanner.Pipeline;
import dev.pipewright.planner.alpa.InterOperatorPlanner.Stage;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class InterOperatorPlannerTest {
  private static StageTable random(SplittableRandom random, int layers, int[] devices) {
    double[][][] seconds = new double[layers][layers][devices.length];
    int[][][] mostBehind = new int[layers][layers][devices.length];
    for (int first = 0; first < layers; first++) {
      for (int last = first; last < layers; last++) {
        for (int shape = 0; shape < devices.length; shape++) {
          boolean impossible = random.nextInt(12) == 0;
          seconds[first][last][shape] =
              impossible
                  ? Double.POSITIVE_INFINITY
                  : (last - first + 1) * random.nextDouble(1, 2) / devices[shape];
          mostBehind[first][last][shape] = random.nextInt(-1, 6);
        }
      }
    }
    return new StageTable(devices, seconds, mostBehind);
  }

  /** The referee: every pipeline of so many stages, from its last stage to its first. */
  private static double exhaustive(
      StageTable table,
      int microBatches,
      OptionalInt stages,
      int end,
      int free,
      int behind,
      double sum,
      double most) {
    if (end == 0) {
      boolean asked = free == 0 && stages.orElse(behind) == behind;
      return asked ? sum + (microBatches - 1) * most : Double.POSITIVE_INFINITY;
    }
    double best = Double.POSITIVE_INFINITY;
    for (int shape = 0; shape < table.devices().length; shape++) {
      int left = free - table.devices()[shape];
      for (int first = 0; first < end && left >= 0; first++) {
        double seconds = table.seconds()[first][end - 1][shape];
        if (table.mostBehind()[first][end - 1][shape] >= behind
            && seconds < Double.POSITIVE_INFINITY) {
          best =
              Math.min(
                  best,
                  exhaustive(
                      table,
                      microBatches,
                      stages,
                      first,
                      left,
                      behind + 1,
                      sum + seconds,
                      Math.max(most, seconds)));
        }
      }
    }
    return best;
  }

  @RepeatedTest(200)
  void noPipelineIsFaster(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    StageTable table = random(random, random.nextInt(1, 7), new int[] {1, 2, 4});
    int devices = random.nextInt(1, 8);
    int microBatches = random.nextInt(1, 9);
    OptionalInt stages =
        random.nextBoolean() ? OptionalInt.empty() : OptionalInt.of(random.nextInt(1, 5));
    double optimum = exhaustive(table, microBatches, stages, table.layers(), devices, 0, 0, 0);
    Optional<Pipeline> found = InterOperatorPlanner.plan(table, devices, microBatches, stages);
    assertEquals(optimum < Double.POSITIVE_INFINITY, found.isPresent());
    if (found.isPresent()) {
      assertEquals(optimum, found.get().latency(), 1e-12 * optimum);
      assertEquals(optimum, latency(table, found.get(), devices, microBatches), 1e-12 * optimum);
    }
  }

  /** Counted again from the stages alone, which have to use all layers and devices once. */
  private static double latency(
      StageTable table, Pipeline pipeline, int devices, int microBatches) {
    double sum = 0;
    double most = 0;
    int next = 0;
    int used = 0;
    for (Stage stage : pipeline.stages()) {
      assertEquals(next, stage.first());
      next = stage.last() + 1;
      used += table.devices()[stage.shape()];
      double seconds = table.seconds()[stage.first()][stage.last()][stage.shape()];
      sum += seconds;
      most = Math.max(most, seconds);
    }
    assertEquals(table.layers(), next);
    assertEquals(devices, used);
    return sum + (microBatches - 1) * most;
  }

  @Test
  void oneStageWhereMicroBatchesAreFew() {
    double[][][] seconds = {{{4, 2}, {8, 4}}, {{0, 0}, {4, 2}}};
    int[][][] mostBehind = {{{9, 9}, {9, 9}}, {{9, 9}, {9, 9}}};
    StageTable table = new StageTable(new int[] {1, 2}, seconds, mostBehind);
    Pipeline one = InterOperatorPlanner.plan(table, 2, 1, OptionalInt.empty()).orElseThrow();
    assertEquals(java.util.List.of(new Stage(0, 1, 1)), one.stages());
    assertEquals(4, one.latency());
  }

  @Test
  void refusesATableWithHoles() {
    double[][][] seconds = {{{Double.NaN}}};
    var error =
        assertThrows(
            IllegalArgumentException.class,
            () -> new StageTable(new int[] {1}, seconds, new int[1][1][1]));
    assertEquals("a stage takes time: layers=[0, 0], shape=0, seconds=NaN", error.getMessage());
  }
}
