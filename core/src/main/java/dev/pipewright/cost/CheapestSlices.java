package dev.pipewright.cost;

import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** What a sample costs each layer at the slice size that suits it best. */
final class CheapestSlices {
  private CheapestSlices() {}

  /**
   * By layer. Time per sample is monotone between measured sizes, so that these, one sample and
   * {@code samples} suffice.
   *
   * @param samples of the largest slice
   * @param quantities whose sum counts
   */
  static double[] secondsPerSample(Profile profile, int samples, List<Quantity> quantities) {
    double[] best = new double[profile.layers()];
    Arrays.fill(best, Double.POSITIVE_INFINITY);
    IntStream measured =
        profile.samples().stream().mapToInt(Integer::intValue).filter(size -> size < samples);
    for (int slice : IntStream.concat(IntStream.of(1, samples), measured).toArray()) {
      double[] seconds = new double[best.length];
      for (Quantity quantity : quantities) {
        double[] each = profile.seconds(quantity, slice);
        Arrays.setAll(seconds, layer -> seconds[layer] + each[layer]);
      }
      Arrays.setAll(best, layer -> Math.min(best[layer], seconds[layer] / slice));
    }
    return best;
  }
}
