package dev.pipewright.planner.memory;

import java.util.SplittableRandom;

/** Small instances by seed. */
final class RandomPeaks {
  private RandomPeaks() {}

  /** Peaks of measured layers; few different sizes, so that ties are common. */
  static LayerPeaks ofLayers(SplittableRandom random, int layers) {
    int kinds = random.nextInt(2, 12);
    double[] alone = new double[layers];
    double[] added = new double[layers];
    for (int layer = 0; layer < layers; layer++) {
      alone[layer] = 10 + random.nextInt(kinds);
      added[layer] = random.nextInt(kinds) - 1; // now and then less than nothing
    }
    added[0] = Double.NaN;
    return new LayerPeaks(alone, added);
  }

  /** Any number for any stage and place, and some that are no stages. */
  static StagePeak ofAnything(SplittableRandom random, int layers, int stages) {
    double[][][] bytes = new double[stages][layers][layers + 1];
    int kinds = random.nextInt(2, 30);
    for (double[][] place : bytes) {
      for (double[] first : place) {
        for (int end = 0; end <= layers; end++) {
          first[end] =
              random.nextInt(12) == 0 ? Double.POSITIVE_INFINITY : random.nextInt(1, kinds);
        }
      }
    }
    return (stage, first, end) -> bytes[stage][first][end];
  }
}
