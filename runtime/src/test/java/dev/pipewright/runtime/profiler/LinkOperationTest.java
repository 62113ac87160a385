package dev.pipewright.runtime.profiler;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Two workers that began at 1 and 3 s and were done at 10 and 7 s. */
class LinkOperationTest {
  private static final List<long[]> TIMES =
      List.of(
          new long[] {1_000_000_000L, 10_000_000_000L},
          new long[] {3_000_000_000L, 7_000_000_000L});

  /** When worker 0 is done with what it computes beside it does not matter. */
  @Test
  void aMessageLastsFromItsSendersBeginToItsReceiversEnd() {
    assertEquals(6, LinkOperation.MESSAGE.seconds(TIMES));
  }

  @Test
  void whatAllDoLastsAsLongAsItTakesEachOnAverage() {
    assertEquals((9 + 4) / 2.0, LinkOperation.SUM.seconds(TIMES));
    assertEquals((9 + 4) / 2.0, LinkOperation.GATHER.seconds(TIMES));
  }
}
