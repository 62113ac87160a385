package dev.pipewright.sim;

import dev.pipewright.units.Check;

/**
 * Durations that differ from op to op: each is multiplied by a log-normal factor of mean 1, and a
 * rank may be a straggler that takes longer for everything. The same seed, rank and position give
 * the same factor, whichever simulator asks and in whatever order.
 *
 * @param seed of all chances
 * @param spread standard deviation of the logarithm of an op's factor: 0.1 is about 10 %
 * @param stragglers the chance that a rank is one
 * @param slowness how many times as long a straggler takes
 */
public record Jitter(long seed, double spread, double stragglers, double slowness) {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  public Jitter {
    Check.that(spread >= 0 && spread <= 10, "the spread must be in 0..10: spread=%s", spread);
    Check.that(
        stragglers >= 0 && stragglers <= 1,
        "the chance of a straggler must be in 0..1: stragglers=%s",
        stragglers);
    Check.that(
        slowness >= 1 && slowness < Double.POSITIVE_INFINITY,
        "a straggler takes longer than others: slowness=%s",
        slowness);
  }

  /** No stragglers. */
  public static Jitter of(long seed, double spread) {
    return new Jitter(seed, spread, 0, 1);
  }

  public Jitter withSeed(long other) {
    return new Jitter(other, spread, stragglers, slowness);
  }

  /** The chances of one of many runs, which has nothing in common with those of other seeds. */
  Jitter ofRun(int run) {
    return withSeed(mixed(mixed(seed) ^ run));
  }

  /** How many times as long as usual the op at a position of a rank's program takes. */
  double factor(int rank, int position) {
    long state = mixed(mixed(seed) + rank);
    double factor = share(mixed(state)) < stragglers ? slowness : 1;
    if (spread > 0) {
      factor *=
          Math.exp(spread * normal(mixed(state + GOLDEN * (position + 1))) - spread * spread / 2);
    }
    return factor;
  }

  /** A standard normal number (Box and Muller, 1958). */
  private static double normal(long state) {
    double radius = Math.sqrt(-2 * Math.log(1 - share(state)));
    return radius * Math.cos(2 * Math.PI * share(mixed(state + GOLDEN)));
  }

  /** A number from 0, inclusive, to 1. */
  private static double share(long state) {
    return (state >>> 11) * 0x1.0p-53;
  }

  /** Stafford's variant 13 of the mixing function of MurmurHash3, as SplittableRandom has it. */
  private static long mixed(long value) {
    long mixed = value + GOLDEN;
    mixed = (mixed ^ mixed >>> 30) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
    return mixed ^ mixed >>> 31;
  }
}
