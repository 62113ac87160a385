package dev.pipewright.runtime.data;

/**
 * Random numbers that follow from a seed and a place and nothing else, on every machine the same.
 *
 * <p>Source: G. L. Steele, D. Lea, C. H. Flood, <i>Fast splittable pseudorandom number
 * generators</i>, OOPSLA 2014, doi:10.1145/2660193.2660195, Fig. 16.
 */
final class RandomStream {
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;
  private static final int PIECE = 0xffff; // a draw has four pieces of 16 bits
  private static final float PIECES_MEAN = 2f * PIECE;
  private static final float PIECES_DEVIATION = (float) (65_536 / 1.7320508075688772);

  private long state;

  /**
   * @param place what is drawn, such as a sample's number; another place gives other numbers
   */
  RandomStream(long seed, long... place) {
    state = seed;
    for (long part : place) {
      state = mixed(mixed(state + GOLDEN) + part);
    }
  }

  static long mixed(long bits) {
    long once = (bits ^ (bits >>> 30)) * 0xbf58476d1ce4e5b9L;
    long twice = (once ^ (once >>> 27)) * 0x94d049bb133111ebL;
    return twice ^ (twice >>> 31);
  }

  long next() {
    state += GOLDEN;
    return mixed(state);
  }

  /** A whole number from 0 to {@code bound − 1}, of at most 31 bits. */
  int below(int bound) {
    return (int) (((next() >>> 33) * bound) >>> 31);
  }

  /** A number from 0 to 1, without 1. */
  double uniform() {
    return (next() >>> 11) * 0x1p-53;
  }

  /** A number from −1 to 1. */
  float symmetric() {
    return (float) (2 * uniform() - 1);
  }

  /**
   * Mean 0, deviation 1, and nearly normal: four uniform numbers added up, which costs one draw and
   * rounds the same everywhere.
   */
  float noise() {
    long bits = next();
    long sum =
        (bits & PIECE) + (bits >>> 16 & PIECE) + (bits >>> 32 & PIECE) + (bits >>> 48 & PIECE);
    return (sum - PIECES_MEAN) / PIECES_DEVIATION;
  }
}
