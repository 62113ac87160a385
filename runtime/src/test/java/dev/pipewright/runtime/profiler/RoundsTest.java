package dev.pipewright.runtime.profiler;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.runtime.profiler.LayerClock.Rounds;
import dev.pipewright.runtime.profiler.LayerClock.What;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Two layers. */
class RoundsTest {
  private static Map<What, double[]> round(double first, double second) {
    return Map.of(
        What.FIRST_BACKWARD, new double[] {3, 3}, What.BACKWARD, new double[] {first, second});
  }

  private static double adding(List<Map<What, double[]>> rounds) {
    return new Rounds(rounds, new double[rounds.size()], new double[rounds.size()]).adding();
  }

  @Test
  void addingIsTheMedianOfWholePasses() {
    assertEquals(1, adding(List.of(round(2, 4), round(5, 2), round(3, 6))), 1e-12); // 0, 1 and 3
  }

  @Test
  void noiseOfLayersIsNoAdding() {
    assertEquals(0, adding(List.of(round(1, 5), round(1, 5), round(1, 5))), 1e-12);
    assertEquals(0, adding(List.of(round(1, 4), round(1, 4), round(1, 4))), 1e-12);
  }
}
