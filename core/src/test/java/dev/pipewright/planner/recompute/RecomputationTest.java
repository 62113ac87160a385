package dev.pipewright.planner.recompute;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.plan.Recompute;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RecomputationTest {
  @Test
  void stagesRecomputeWithoutNeedWhereTheyAlwaysDo() {
    assertEquals(
        List.of(Recomputation.ALWAYS, Recomputation.ALWAYS_EXCEPT_LAST),
        Arrays.stream(Recomputation.values()).filter(Recomputation::always).toList());
  }

  @ParameterizedTest
  @EnumSource(names = {"NEVER", "ALWAYS", "SELECTIVE"})
  void plannersOfLayersFollowWhatIsOfLayers(Recomputation kind) {
    assertEquals(kind, kind.ofLayers());
  }

  @Test
  void plannersOfLayersMayTakeWholeStagesToo() {
    assertEquals(Recomputation.SELECTIVE, Recomputation.WHERE_NEEDED.ofLayers());
  }

  @Test
  void plannersOfLayersTreatAllMicroBatchesAlike() {
    var refusal =
        assertThrows(
            IllegalArgumentException.class, Recomputation.ALWAYS_EXCEPT_LAST::checkOfLayers);
    assertEquals(
        "except-last is for synchronous data and pipeline parallelism, whose steps have a last"
            + " micro-batch",
        refusal.getMessage());
    assertThrows(IllegalArgumentException.class, Recomputation.ALWAYS_EXCEPT_LAST::ofLayers);
  }

  @ParameterizedTest
  @EnumSource
  void wholeStagesKeepTheirInputButForTheLastMicroBatch(Recomputation kind) {
    assertEquals(
        kind == Recomputation.ALWAYS_EXCEPT_LAST ? Recompute.EXCEPT_LAST : Recompute.STAGE_INPUT,
        kind.ofStage());
  }

  @Test
  void aLastMicroBatchThatKeepsItsActivationsNeedsThemInAdditionToThoseOfARecomputedOne() {
    assertEquals(7, Recomputation.ALWAYS.beyondInputs(7, 3));
    assertEquals(14, Recomputation.ALWAYS_EXCEPT_LAST.beyondInputs(7, 3));
    assertEquals(7, Recomputation.ALWAYS_EXCEPT_LAST.beyondInputs(7, 1), "no other is in flight");
  }
}
