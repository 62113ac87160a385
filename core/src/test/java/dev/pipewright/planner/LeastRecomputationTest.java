package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LeastRecomputationTest {
  /** Some layers keep nothing, and some take no time. */
  private static double[] some(SplittableRandom random, int layers) {
    double[] some = new double[layers];
    Arrays.setAll(some, layer -> random.nextInt(4) == 0 ? 0 : random.nextDouble());
    return some;
  }

  @Test
  void noSubsetOfLayersTakesLess() {
    var random = new SplittableRandom(7);
    for (int instance = 0; instance < 300; instance++) {
      int layers = random.nextInt(1, 9);
      double[] held = some(random, layers);
      double[] forward = some(random, layers);
      double most = random.nextDouble() * LayerLoads.sum(held);
      double least = new LeastRecomputation(held, forward).seconds(most);
      for (int subset = 0; subset < 1 << layers; subset++) {
        double kept = 0;
        double seconds = 0;
        for (int layer = 0; layer < layers; layer++) {
          boolean again = (subset >> layer & 1) == 1;
          kept += again ? 0 : held[layer];
          seconds += again ? forward[layer] : 0;
        }
        assertTrue(kept > most || least <= seconds + 1e-12, "instance " + instance);
      }
    }
  }

  @Test
  void layersWithoutTimeOrMemoryAreInOrder() { // of hundreds of layers a wrong order is found out
    var random = new SplittableRandom(8);
    for (int instance = 0; instance < 300; instance++) {
      double[] held = some(random, 300);
      double[] forward = some(random, 300);
      double none = new LeastRecomputation(held, forward).seconds(0);
      double spent = 0;
      for (int layer = 0; layer < 300; layer++) {
        spent += held[layer] > 0 ? forward[layer] : 0;
      }
      assertEquals(spent, none, 1e-9 * spent, "instance " + instance);
    }
  }
}
