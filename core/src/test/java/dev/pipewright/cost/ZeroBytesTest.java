package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A network whose head reads the table of its embedding, on four workers that hold all of it. */
class ZeroBytesTest {
  private static final int WORKERS = 4;
  private static final double TABLE = 50_000 * 768; // parameters
  private static final String GPT =
      "gpt:layers=12,hidden=768,heads=12,sequence=64,vocabulary=50000";

  private static StageCosts costs() {
    ZooModel model = Models.find(GPT).orElseThrow();
    Cluster cluster = Clusters.find("dgx-h100:1x4").orElseThrow();
    Training training = new Training(Optimizer.ADAM, Precision.BF16);
    var profile = Roofline.profile(model.graph(), cluster, training, List.of(1));
    return new StageCosts(new Workload(Chain.of(model.graph()), profile, training, cluster));
  }

  private static ZeroBytes bytes(StageCosts costs, ZeroStage sharding, boolean overlapped) {
    Assignment replicas =
        new Assignment(
                OneForwardOneBackward.of(1, 1),
                List.of(StageLayers.keeping(0, costs.size() - 1)),
                List.of(WORKERS),
                WORKERS,
                overlapped)
            .sharded(sharding);
    return new ZeroBytes(costs, replicas, 0, 0);
  }

  /** ZeRO, SC 2020, figure 1, with gradients in 32 bits: 6 + 12/d, 2 + 16/d and 18/d. */
  @ParameterizedTest
  @CsvSource({"OPTIMIZER, 2, 4, 3", "GRADIENTS, 2, 1, 3", "PARAMETERS, 0.5, 1, 3"})
  void aStageShardsSomeOf18BytesForEachParameter(
      ZeroStage sharding, double parameter, double gradient, double optimizer) {
    StageCosts costs = costs();
    double parameters = costs.workload().chain().graph().parameters();
    for (boolean overlapped : new boolean[] {false, true}) {
      States reserved = bytes(costs, sharding, overlapped).reserved();
      assertEquals(parameter * parameters, reserved.parameters());
      assertEquals(gradient * parameters, reserved.gradients());
      assertEquals(optimizer * parameters, reserved.optimizer());
    }
  }

  /** Embedding and head need it at different times. */
  @Test
  void aTiedTableStaysWholeUnderZero3() {
    StageCosts costs = costs();
    ZeroBytes bytes = bytes(costs, ZeroStage.PARAMETERS, true);
    double parameters = costs.workload().chain().graph().parameters();
    double whole = 2 * TABLE * (WORKERS - 1) / WORKERS;
    assertEquals((0.5 + 3) * parameters + whole, bytes.resting());
    assertEquals(
        bytes.resting() + bytes.most(),
        bytes.reserved().all() + bytes.buffers(),
        parameters * 1e-9);
  }

  /** Blocks of 28 MB leave one by one, and the table has room of its own until all have left. */
  @Test
  void gradientsThatLeaveBlockByBlockFillNoBuffers() {
    StageCosts costs = costs();
    ZeroBytes atOnce = bytes(costs, ZeroStage.OPTIMIZER, false);
    ZeroBytes blocks = bytes(costs, ZeroStage.OPTIMIZER, true);
    assertTrue(blocks.most() < atOnce.most());
    assertTrue(blocks.most() < blocks.reserved().gradients());
    assertEquals(0, blocks.buffers());
    assertEquals(atOnce.most() - atOnce.reserved().gradients(), atOnce.buffers(), 1);
  }
}
