package dev.pipewright.runtime.launch;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Selects, of times that were measured one by one, those that say most of the machine itself. What
 * others do at the same time only makes them longer: a virtual machine's host says how much of the
 * processors' time it gave away, but not who else used their caches and their memory.
 */
public final class QuietQuartile {
  private static final int PART = 4;
  private static final int LEAST = 3;

  private QuietQuartile() {}

  /**
   * The quarter from which a host took least, but no fewer than three, and whatever lost no more
   * than they did.
   *
   * @param stolen from each, in any unit; at least one
   * @return positions, ascending
   */
  public static int[] of(long[] stolen) {
    long[] sorted = stolen.clone();
    Arrays.sort(sorted);
    int count = Math.min(sorted.length, Math.max(LEAST, sorted.length / PART));
    long most = sorted[count - 1];
    return IntStream.range(0, stolen.length).filter(i -> stolen[i] <= most).toArray();
  }

  /**
   * The shorter half of those that lost least, whose median is their lower quartile.
   *
   * @param seconds each took
   * @param stolen from each
   * @return positions, the shortest first
   */
  public static int[] shorter(double[] seconds, long[] stolen) {
    int[] calm = of(stolen);
    return Arrays.stream(calm)
        .boxed()
        .sorted(Comparator.comparingDouble(i -> seconds[i]))
        .limit((calm.length + 1) / 2)
        .mapToInt(Integer::intValue)
        .toArray();
  }
}
