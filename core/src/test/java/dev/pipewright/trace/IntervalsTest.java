package dev.pipewright.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class IntervalsTest {
  private static final int SECONDS = 60;

  @RepeatedTest(100)
  void countsEachSecondOnce(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Intervals[] spans = {new Intervals(), new Intervals()};
    BitSet[] seconds = {new BitSet(), new BitSet()};
    for (int i = random.nextInt(0, 90); i > 0; i--) {
      int which = random.nextInt(2);
      int start = random.nextInt(SECONDS);
      int end = Math.min(SECONDS, start + random.nextInt(0, 6));
      spans[which].add(start, end);
      seconds[which].set(start, end);
    }
    assertEquals(seconds[0].cardinality(), spans[0].length());
    BitSet outside = (BitSet) seconds[0].clone();
    outside.andNot(seconds[1]);
    assertEquals(outside.cardinality(), spans[0].lengthOutside(spans[1]));
    assertEquals(
        seconds[0].isEmpty() ? Double.POSITIVE_INFINITY : seconds[0].nextSetBit(0),
        spans[0].first());
    assertEquals(
        seconds[0].isEmpty() ? Double.NEGATIVE_INFINITY : seconds[0].length(), spans[0].last());
  }

  @Test
  void communicationIsExposedWhereNoStreamComputes() {
    Intervals computed = new Intervals();
    computed.add(0, 4);
    computed.add(3, 6);
    Intervals communicated = new Intervals();
    communicated.add(5, 8);
    Intervals copied = new Intervals();
    copied.add(7.5, 9);
    RankShares shares = RankShares.of(3, 10, computed, communicated, copied);
    assertEquals(new RankShares(3, 10, 6, 2, 1), shares);
    assertEquals(1, shares.idle());
  }
}
