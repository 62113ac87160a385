package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class StatePackingTest {
  private static final int INSTANCES = 2000;

  /** Against exhaustive packing. */
  @Test
  void whatCanBePackedMayFit() {
    int refused = 0;
    int impossible = 0;
    for (int instance = 0; instance < INSTANCES; instance++) {
      SplittableRandom random = new SplittableRandom(instance);
      double[] bytes = random.doubles(random.nextInt(1, 9), 0.05, 0.7).toArray();
      if (random.nextBoolean()) {
        Arrays.fill(bytes, 1, bytes.length, bytes[0]); // layers alike behind an embedding
        bytes[0] = random.nextDouble(0.05, 0.9);
      }
      int devices = random.nextInt(1, 4);
      boolean fits = packs(bytes, 0, new double[devices]);
      boolean may = StatePacking.mayFit(bytes, devices, 1);
      assertTrue(may || !fits, "instance " + instance);
      impossible += fits ? 0 : 1;
      refused += may ? 0 : 1;
    }
    assertTrue(refused > 0.9 * impossible, refused + " of " + impossible);
  }

  private static boolean packs(double[] bytes, int next, double[] used) {
    if (next == bytes.length) {
      return true;
    }
    for (int device = 0; device < used.length; device++) {
      if (used[device] + bytes[next] <= 1) {
        used[device] += bytes[next];
        boolean rest = packs(bytes, next + 1, used);
        used[device] -= bytes[next];
        if (rest) {
          return true;
        }
      }
    }
    return false;
  }

  /** Together five of them are as large as the devices, but only two fit each. */
  @Test
  void wholeLayersFitWorseThanParts() {
    double[] layers = {0.4, 0.4, 0.4, 0.4, 0.4};
    assertFalse(StatePacking.mayFit(layers, 2, 1));
    assertTrue(StatePacking.mayFit(layers, 3, 1));
  }

  @Test
  void aLayerTooLargeFitsNowhere() {
    assertFalse(StatePacking.mayFit(new double[] {1.1}, 9, 1));
    assertFalse(StatePacking.mayFit(new double[] {0.5}, 9, -1));
    assertTrue(StatePacking.mayFit(new double[] {0.5, 0.5}, 1, 1));
  }
}
