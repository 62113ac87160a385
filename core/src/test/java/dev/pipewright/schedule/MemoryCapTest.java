package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class MemoryCapTest {
  private static final MemoryCap BY_RANK = new MemoryCap(List.of(4.0, 2.5, 3.0));

  @Test
  void oneNumberIsForAnyRanksAndSeveralForAsMany() {
    MemoryCap all = MemoryCap.of(2);
    assertTrue(all.isFor(1) && all.isFor(7));
    assertArrayEquals(new double[] {2, 2, 2}, all.each(3));
    assertTrue(BY_RANK.isFor(3));
    assertFalse(BY_RANK.isFor(1) || BY_RANK.isFor(2) || BY_RANK.isFor(4));
    assertArrayEquals(new double[] {4, 2.5, 3}, BY_RANK.each(3));
    assertEquals(2.5, BY_RANK.least());
    String message =
        assertThrows(IllegalArgumentException.class, () -> BY_RANK.each(4)).getMessage();
    assertEquals("one cap per rank: caps=3, ranks=4", message);
  }

  @Test
  void capsAreEqualWhereNoneDiffers() {
    assertTrue(MemoryCap.of(2).isEqual());
    assertTrue(new MemoryCap(List.of(2.0, 2.0)).isEqual());
    assertFalse(BY_RANK.isEqual());
  }

  @Test
  void aRankExceedsItsOwnCap() {
    assertFalse(BY_RANK.isExceeded(0, 4));
    assertTrue(BY_RANK.isExceeded(1, 3));
    assertFalse(BY_RANK.isExceeded(2, 3));
    assertFalse(MemoryCap.of(0.1 + 0.2 + 0.8).isExceeded(5, 1.1), "rounding is no excess");
    assertFalse(MemoryCap.NONE.isExceeded(5, 1e300));
  }

  @Test
  void noneIsNoLimit() {
    assertFalse(MemoryCap.NONE.isLimited());
    assertTrue(BY_RANK.isLimited());
    assertTrue(new MemoryCap(List.of(Double.POSITIVE_INFINITY, 2.0)).isLimited());
  }

  @Test
  void aRankHoldsOneActivationAtLeast() {
    for (double cap : new double[] {0.9, 0, -1, Double.NaN}) {
      assertThrows(IllegalArgumentException.class, () -> MemoryCap.of(cap));
    }
    assertThrows(IllegalArgumentException.class, () -> new MemoryCap(List.of()));
  }
}
