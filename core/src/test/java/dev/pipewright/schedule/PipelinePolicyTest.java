package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class PipelinePolicyTest {
  @Test
  void policiesHoldAsManyMicroBatchesAsThePaperSays() {
    assertArrayEquals(new int[] {4, 3, 2, 1}, PipelinePolicy.A.inFlight(4, 100));
    assertArrayEquals(new int[] {7, 5, 3, 1}, PipelinePolicy.B.inFlight(4, 100));
    assertArrayEquals(new int[] {100, 100, 100, 100}, PipelinePolicy.ALL.inFlight(4, 100));
  }

  @Test
  void noneHoldsMoreThanThereAre() {
    assertArrayEquals(new int[] {3, 3, 2, 1}, PipelinePolicy.A.inFlight(4, 3));
    assertArrayEquals(new int[] {4, 4, 3, 1}, PipelinePolicy.B.inFlight(4, 4));
    assertEquals(
        Integer.MAX_VALUE, PipelinePolicy.B.inFlightOf(Integer.MAX_VALUE, Integer.MAX_VALUE));
  }

  @Test
  void schedulesAreThoseOfTheirFamily() {
    assertEquals("gpipe", PipelinePolicy.ALL.schedule(2, new int[] {2, 2}).name());
    assertEquals("1f1b", PipelinePolicy.B.schedule(2, new int[] {2, 1}).name());
    assertEquals("1f1b-b", PipelinePolicy.B.scheduleName());
  }
}
