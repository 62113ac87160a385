package dev.pipewright.runtime.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class ClockOffsetTest {
  /** The error is at most half the way that the fastest answer took longer in one direction. */
  @RepeatedTest(10)
  void theOffsetIsKnownToHalfTheShortestRoundTrip(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    long ahead = random.nextLong(-1L << 50, 1L << 50);
    ClockOffset clock = new ClockOffset();
    long now = 1L << 40;
    long shortest = Long.MAX_VALUE;
    for (int i = 0; i < 20; i++) {
      long there = random.nextLong(10_000, 1_000_000);
      long back = random.nextLong(10_000, 1_000_000);
      clock.heard(now, now + there + ahead, now + there + back);
      now += there + back + random.nextLong(1_000_000);
      shortest = Math.min(shortest, there + back);
    }
    assertTrue(Math.abs(clock.ahead() - ahead) <= shortest / 2);
  }

  @Test
  void whoIsNotAskedHasOurClock() {
    assertEquals(0, new ClockOffset().ahead());
  }

  @Test
  void oldAnswersAreForgottenSinceClocksDrift() {
    ClockOffset clock = new ClockOffset();
    clock.heard(0, 1_000, 2);
    for (long i = 1; i <= 32; i++) {
      clock.heard(i * 1_000, i * 1_000 + 5_050, i * 1_000 + 100);
    }
    assertEquals(5_000, clock.ahead());
  }
}
