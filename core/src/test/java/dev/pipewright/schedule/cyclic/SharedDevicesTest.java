package dev.pipewright.schedule.cyclic;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.schedule.Diagram;
import dev.pipewright.schedule.PassesOnly;
import dev.pipewright.schedule.Picture;
import dev.pipewright.schedule.PipeDream;
import dev.pipewright.schedule.PipeDream2bw;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.cyclic.Cyclic.Form;
import dev.pipewright.schedule.cyclic.Cyclic.Rule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Workers that take turns on devices: the pyramid's, the pipeline's, or one for everything. */
class SharedDevicesTest {
  private static final int MOST_WORKERS = 7;
  private static final int STEPS = 3;

  @Test
  void oneDeviceRunsAllWorkersSlotBySlot() {
    assertEquals(
        """
        0 | 0F0 1F0 1B0 0F0 0B0 1F0 0F1 1B0 1U0 1F1 0B0 0U0 1B1 0F1 0B1 1F1 1B1 1U1 0B1 0U1
        """,
        Picture.ofChains(new Cyclic(2).schedule(Form.SINGLE, Rule.V2, 2)));
  }

  @Test
  void thePyramidHasOneDeviceLessForEveryStageBehind() {
    assertEquals(
        """
        0 | 0F0 0H0 0B0 0F0 0H3 0B0 0U0 0H6 0U1
        1 | 0F0 0H1 0B0 0F0 0H4 0B0 0U0 0H7 0U1
        2 | 0F0 0H2 0B0 0U0 0F0 0H5 0B0 0U1
        3 | 1F0 1B0 1F0 1H1 1B0 1U0 1F0 1H3 1B0 1H5 1U1
        4 | 1F0 1H0 1B0 1F0 1H2 1B0 1U0 1F0 1H4 1B0 1U1
        5 | 2F0 2B0 2F0 2B0 2F0 2B0 2U0 2F0 2B0 2F0 2B0 2F0 2B0 2U1
        """,
        Picture.ofChains(new Cyclic(3).schedule(Form.PYRAMID, Rule.V2, 2)));
  }

  /** ½ Ψ_P in table 1. */
  @ParameterizedTest
  @EnumSource
  void thePyramidSendsHalfOfWhatAllReducesAmongNDevicesOfEachStageSend(Rule rule) {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      int allReduces = workers * 2 * (workers - 1);
      int sent = new GradientSums(Form.PYRAMID, rule, workers, STEPS).sent();
      assertEquals(STEPS * allReduces / 2, sent);
    }
  }

  @Test
  void thePipelineUpdatesAStageBehindItsLastWorker() {
    assertEquals(
        """
        0 | 0F0 0F1 0F2 0B0 0F3 0B1 0F4 0B2 0U0 0F5 0B3 0B4 0B5 0U1
        1 | 1F0 1F1 1B0 1F2 1B1 1F3 1B2 1U0 1F4 1B3 1F5 1B4 1B5 1U1
        2 | 2F0 2B0 2F1 2B1 2F2 2B2 2U0 2F3 2B3 2F4 2B4 2F5 2B5 2U1
        """,
        Picture.ofChains(new Cyclic(3).schedule(Form.PIPELINE, Rule.V1, 2)));
  }

  @ParameterizedTest
  @EnumSource
  void thePipelineIsThatOfPipeDream(Rule rule) {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      Schedule schedule = new Cyclic(workers).schedule(Form.PIPELINE, rule, STEPS);
      assertEquals(
          Diagram.of(PassesOnly.of(PipeDream.of(workers, workers * STEPS))),
          Diagram.of(PassesOnly.of(schedule)));
      assertEquals(Diagram.of(PipeDream2bw.of(workers, workers, STEPS)), Diagram.of(schedule));
    }
  }
}
