package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PlacementTest {
  private static String ranks(Placement placement) {
    return IntStream.range(0, placement.stages())
        .mapToObj(stage -> String.valueOf(placement.rankOf(stage)))
        .collect(Collectors.joining(" "));
  }

  @Test
  void stagesAreDealtOutInTurnThereAndBackOrFromBothEnds() {
    assertEquals("0 1 2", ranks(Placement.straight(3)));
    assertEquals("0 1 2 0 1 2", ranks(Placement.looped(3, 2)));
    assertEquals("0 1 2 2 1 0", ranks(Placement.waves(3, 2)));
    assertEquals("0 1 2 2 1 0 0 1 2", ranks(Placement.waves(3, 3)));
    assertEquals("0 1 2 2 1 0", ranks(Placement.bothWays(3)));
  }

  @Test
  void aChainHasItsOwnFirstAndLastStage() {
    Placement both = Placement.bothWays(3);
    assertEquals(2, both.chains());
    assertEquals(3, both.depth());
    assertTrue(both.first(0) && both.first(3) && both.last(2) && both.last(5));
    assertFalse(both.first(1) || both.last(3) || both.straight());
    assertTrue(Placement.straight(3).straight());
  }

  @Test
  void twoDirectionsHoldTwoCopiesOfTheParameters() {
    assertEquals(1, Placement.straight(3).copies());
    assertEquals(1, Placement.waves(3, 4).copies());
    assertEquals(2, Placement.bothWays(3).copies());
    assertEquals(1.5, Placement.of(3, 2, 0, 1, 0, 2).copies()); // replicas of the last stage
  }

  @Test
  void ranksMustExist() {
    assertThrows(IllegalArgumentException.class, () -> Placement.of(2, 1, 0, 2));
    assertThrows(IllegalArgumentException.class, () -> Placement.of(2, 2, 0, 1, 1));
  }
}
