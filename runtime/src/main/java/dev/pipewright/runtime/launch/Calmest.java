package dev.pipewright.runtime.launch;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Of times that were measured one by one, those that say most: from which a virtual machine's host
 * took least. Where it takes nothing, these are all of them.
 */
public final class Calmest {
  private static final int PART = 4;
  private static final int LEAST = 3;

  private Calmest() {}

  /**
   * The quarter that lost least, but no fewer than three, and whatever lost no more than they did.
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
   * The same of values.
   *
   * @param stolen from each of them
   */
  public static double[] of(double[] values, long[] stolen) {
    return Arrays.stream(of(stolen)).mapToDouble(i -> values[i]).toArray();
  }
}
