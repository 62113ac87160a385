package dev.pipewright.runtime.data;

import dev.pipewright.units.Check;

/**
 * Which samples a step trains on: every epoch has all of them, in an order of its own. The order
 * follows from the seed alone, so it does not matter how many workers there are or at which step
 * they start.
 *
 * <p>Sources: the order is a Feistel network (H. Feistel, <i>Cryptography and computer privacy</i>,
 * Scientific American 228 (1973)) over twice as many bits as half a number needs; a result that is
 * no sample's number is permuted again until it is one (J. Black, P. Rogaway, <i>Ciphers with
 * arbitrary finite domains</i>, CT-RSA 2002, doi:10.1007/3-540-45760-7_9). So nothing is kept, and
 * a number costs about two permutations. Departs: four rounds of a hash, as no one attacks it.
 */
public final class Sampler {
  private static final int ROUNDS = 4;

  private final long samples;
  private final long seed;
  private final int halfBits;

  public Sampler(long samples, long seed) {
    Check.that(
        samples >= 1 && samples <= 1L << 60, "there are samples to train on: samples=%d", samples);
    this.samples = samples;
    this.seed = seed;
    int bits = 64 - Long.numberOfLeadingZeros(samples - 1);
    this.halfBits = Math.max(1, (bits + 1) / 2);
  }

  /**
   * The numbers of {@code count} samples.
   *
   * @param position how many samples were trained on before, over all epochs
   */
  public long[] numbers(long position, int count) {
    Check.that(position >= 0, "positions count from 0: position=%d", position);
    long[] numbers = new long[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = number(position + i);
    }
    return numbers;
  }

  /** The epoch, from 0, to which a position belongs. */
  public long epoch(long position) {
    return position / samples;
  }

  private long number(long position) {
    long key = RandomStream.mixed(seed ^ RandomStream.mixed(epoch(position)));
    long number = position % samples;
    do {
      number = permuted(number, key);
    } while (number >= samples);
    return number;
  }

  private long permuted(long number, long key) {
    long mask = (1L << halfBits) - 1;
    long left = number >>> halfBits;
    long right = number & mask;
    for (int round = 0; round < ROUNDS; round++) {
      long mixed = left ^ (RandomStream.mixed(key + right * ROUNDS + round) & mask);
      left = right;
      right = mixed;
    }
    return left << halfBits | right;
  }
}
