package dev.pipewright.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.profile.CollectiveTiming.Kind;
import org.junit.jupiter.api.Test;

class CollectiveTimingTest {
  @Test
  void aRingOfEightTakesFourteenStepsOfAnEighth() {
    var timing = new CollectiveTiming(Kind.ALL_REDUCE, 8, 800, 28);
    assertEquals(100, timing.stepBytes());
    assertEquals(2, timing.stepSeconds());
  }

  @Test
  void halvesOfTheRingAndExchangesTakeSevenSteps() {
    for (Kind kind : new Kind[] {Kind.ALL_GATHER, Kind.REDUCE_SCATTER, Kind.ALL_TO_ALL}) {
      var timing = new CollectiveTiming(kind, 8, 800, 28);
      assertEquals(100, timing.stepBytes());
      assertEquals(4, timing.stepSeconds());
    }
  }

  @Test
  void aMessageBetweenTwoIsItsOwnStep() {
    var timing = new CollectiveTiming(Kind.POINT_TO_POINT, 2, 800, 28);
    assertEquals(800, timing.stepBytes());
    assertEquals(28, timing.stepSeconds());
  }

  @Test
  void impossibleTimingsAreRefused() {
    assertRefused("devices=1", () -> new CollectiveTiming(Kind.ALL_REDUCE, 1, 8, 1));
    assertRefused("bytes", () -> new CollectiveTiming(Kind.ALL_REDUCE, 2, 0, 1));
    assertRefused("seconds", () -> new CollectiveTiming(Kind.ALL_REDUCE, 2, 8, 0));
    assertRefused("seconds", () -> new CollectiveTiming(Kind.ALL_REDUCE, 2, 8, -1));
    assertRefused("seconds", () -> new CollectiveTiming(Kind.ALL_REDUCE, 2, 8, Double.NaN));
  }

  private static void assertRefused(String part, Runnable mistake) {
    var refusal = assertThrows(IllegalArgumentException.class, mistake::run);
    assertTrue(String.valueOf(refusal.getMessage()).contains(part), refusal.getMessage());
  }
}
