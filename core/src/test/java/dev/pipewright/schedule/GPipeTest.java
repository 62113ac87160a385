package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class GPipeTest extends ScheduleContract {
  @Override
  Schedule schedule(int stages, int microBatches) {
    return GPipe.of(stages, microBatches);
  }

  @Override
  int inFlight(int stages, int microBatches, int stage) {
    return microBatches;
  }

  @Test
  void allForwardPassesComeBeforeAllBackwardPasses() {
    assertEquals(
        """
        0 | F0 F1 F2 B0 B1 B2
        1 | F0 F1 F2 B0 B1 B2
        """,
        Diagram.of(schedule(2, 3)));
    assertEquals("gpipe", schedule(2, 3).name());
  }
}
