package dev.pipewright.planner.memory;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * {@link TieBreak#NEXT_PEAKS} by dynamic programming.
 *
 * <p>Of two ways to cut the same last layers into as many stages, the one whose bytes, fullest
 * first, are smaller in dictionary order stays so whatever stages come before: so one way is kept
 * for each place. That finds the best list of all stages, and with it the best list without the
 * emptiest, which is what the rule compares. The rule then takes the first partition in dictionary
 * order of sizes that has this list, whatever its emptiest stage: a second pass also decides which
 * stage is the one left out. It holds no more than the least in the list, the others no less, so
 * that it is the emptiest.
 */
final class NextPeaks {
  private final StagePeak peaks;
  private final int layers;
  private final int stages;
  private final double most; // no stage of the result holds more

  private NextPeaks(StagePeak peaks, int layers, int stages, double most) {
    this.peaks = peaks;
    this.layers = layers;
    this.stages = stages;
    this.most = most;
  }

  /**
   * A way to cut the layers from one on.
   *
   * @param listed bytes of its stages, fullest first, without the one that is left out
   * @param end of its first stage
   */
  private record Way(double[] listed, int end, @Nullable Way rest) {}

  /** Layers of each stage; {@code peak} is the smallest that is possible. */
  static int[] sizes(StagePeak peaks, int layers, int stages, double peak) {
    NextPeaks search = new NextPeaks(peaks, layers, stages, peak);
    double[] all = search.ways(Double.NaN).listed;
    Way best = stages == 1 ? search.ways(Double.NaN) : search.ways(all[stages - 2]);
    int[] sizes = new int[stages];
    int first = 0;
    for (int stage = 0; stage < stages; stage++) {
      sizes[stage] = best.end - first;
      first = best.end;
      best = best.rest == null ? best : best.rest;
    }
    return sizes;
  }

  /**
   * The best way for all layers.
   *
   * @param least of the listed stages; one more is left out; NaN where all are listed
   */
  private Way ways(double least) {
    boolean omits = !Double.isNaN(least);
    Way end = new Way(new double[0], layers, null);
    @Nullable Way[] listing = new Way[layers + 1]; // every stage so far
    @Nullable Way[] omitting = new Way[layers + 1]; // but one
    listing[layers] = end;
    for (int stage = stages - 1; stage >= 0; stage--) {
      @Nullable Way[] nextListing = new Way[layers + 1];
      @Nullable Way[] nextOmitting = new Way[layers + 1];
      int last = stage == 0 ? 0 : layers - (stages - stage);
      for (int first = stage; first <= last; first++) {
        for (int to = first + 1; to <= layers - (stages - 1 - stage); to++) {
          if (listing[to] == null && omitting[to] == null) {
            continue;
          }
          double bytes = peaks.bytes(stage, first, to);
          if (!(bytes <= most)) {
            continue;
          }
          if (!omits || bytes >= least) {
            nextListing[first] = better(nextListing[first], bytes, to, listing[to]);
            nextOmitting[first] = better(nextOmitting[first], bytes, to, omitting[to]);
          }
          if (omits && bytes <= least) {
            nextOmitting[first] = better(nextOmitting[first], Double.NaN, to, listing[to]);
          }
        }
      }
      listing = nextListing;
      omitting = nextOmitting;
    }
    Way best = omits ? omitting[0] : listing[0];
    if (best == null) {
      throw new IllegalStateException("a partition with this peak exists: peak=" + most);
    }
    return best;
  }

  /**
   * {@code known}, or a stage of so many bytes (NaN: left out) before {@code rest} if better.
   *
   * <p>Ways with shorter first stages are offered first, so that of equals the first in dictionary
   * order stays. That holds too where a stage may be listed or left out, since it then holds as
   * much as one behind it that could be left out instead.
   */
  private static @Nullable Way better(
      @Nullable Way known, double bytes, int end, @Nullable Way rest) {
    if (rest == null) {
      return known;
    }
    double[] listed = Double.isNaN(bytes) ? rest.listed : inserted(rest.listed, bytes);
    Way made = new Way(listed, end, rest);
    if (known == null) {
      return made;
    }
    return TieBreak.compare(listed, known.listed, listed.length) < 0 ? made : known;
  }

  private static double[] inserted(double[] descending, double bytes) {
    double[] longer = Arrays.copyOf(descending, descending.length + 1);
    int at = descending.length;
    while (at > 0 && longer[at - 1] < bytes) {
      longer[at] = longer[at - 1];
      at--;
    }
    longer[at] = bytes;
    return longer;
  }
}
