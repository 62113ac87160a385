package dev.pipewright.schedule.search;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Times that differ from stage to stage and from cut to cut. */
final class Uneven {
  private Uneven() {}

  static OpTimes times(int stages, SplittableRandom random) {
    return times(stages, random, 1);
  }

  /** Passes take up to three seconds, messages up to {@code slowest}. */
  static OpTimes times(int stages, SplittableRandom random, double slowest) {
    double[][] seconds = new double[5][];
    Arrays.setAll(
        seconds,
        kind -> random.doubles(stages, kind < 3 ? 0.1 : 0, kind < 3 ? 3 : slowest).toArray());
    return new OpTimes(
        seconds[0],
        seconds[1],
        seconds[2],
        seconds[0],
        seconds[3],
        seconds[4],
        OncePerStepTimes.none(stages),
        false);
  }
}
