package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.zoo.Clusters;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PlanWiresTest {
  private static final Cluster TWO_BY_FOUR = Clusters.find("dapple-a:2x4").orElseThrow();

  private static PipelinePlan plan(List<List<Integer>> devices) {
    List<StagePlan> stages = new ArrayList<>();
    for (List<Integer> each : devices) {
      int layer = stages.size();
      stages.add(new StagePlan(layer, layer, each, Recompute.NONE, 1));
    }
    return new PipelinePlan(PipelinePolicy.A, 4, 1, 1, false, stages);
  }

  @Test
  void whatLeavesAMachineSharesItsPortOutAndWhatEntersOneItsPortIn() {
    Wires wires = PlanWires.of(plan(List.of(List.of(0), List.of(4), List.of(1))), TWO_BY_FOUR);
    assertArrayEquals(new int[] {0, 3}, wires.route(0, 1)); // out of machine 0, into machine 1
    assertArrayEquals(new int[] {1, 2}, wires.route(1, 0));
    assertArrayEquals(new int[] {1, 2}, wires.route(1, 2)); // with the gradients to stage 0
  }

  @Test
  void insideAMachineStagesHaveLinksOfTheirOwn() {
    Wires wires = PlanWires.of(plan(List.of(List.of(0), List.of(1), List.of(2))), TWO_BY_FOUR);
    assertEquals(1, wires.route(0, 1).length);
    assertNotEquals(wires.route(0, 1)[0], wires.route(1, 0)[0]);
    assertNotEquals(wires.route(0, 1)[0], wires.route(1, 2)[0]);
  }

  @Test
  void aStageOfBothMachinesCrossesOnlyToTheOneThatTheOtherIsNotIn() {
    Wires wires = PlanWires.of(plan(List.of(List.of(0, 4), List.of(5))), TWO_BY_FOUR);
    assertArrayEquals(new int[] {0}, wires.route(0, 1)); // what machine 0 sends
    assertArrayEquals(new int[] {2}, wires.route(1, 0)); // what machine 0 receives
  }
}
