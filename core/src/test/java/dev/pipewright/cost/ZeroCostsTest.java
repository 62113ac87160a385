package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.model.Chain;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.FixedOrder;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.catalog.ScheduleInput;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Two ranks of two replicas each. */
class ZeroCostsTest {
  private static final int RANKS = 2;
  private static final int MICRO_BATCHES = 8;

  private static StageCosts costs() {
    ZooModel model =
        Models.find("gpt:layers=6,hidden=512,heads=8,sequence=128,vocabulary=1024").orElseThrow();
    Cluster cluster = Clusters.find("dgx-h100:1x4").orElseThrow();
    var profile = Roofline.profile(model.graph(), cluster, model.training(), List.of(1, 2, 4));
    return new StageCosts(
        new Workload(Chain.of(model.graph()), profile, model.training(), cluster));
  }

  static Stream<String> schedules() {
    return ScheduleCatalog.entries().stream()
        .filter(entry -> entry.isSynchronousPipeline() && !entry.needsDurations())
        .map(ScheduleEntry::name);
  }

  private static PipelinePlan plan(String name, StageCosts costs, Recompute recompute) {
    ScheduleEntry entry = ScheduleCatalog.find(name).orElseThrow();
    ScheduleInput counts = ScheduleInput.counts(RANKS, MICRO_BATCHES, entry.chunks());
    Schedule schedule = entry.make(counts);
    FixedOrder order = FixedOrder.of(schedule);
    Placement placement = schedule.placement();
    int depth = order.stages();
    int[] inFlight = order.inFlight(depth, MICRO_BATCHES);
    List<StagePlan> stages = new ArrayList<>();
    for (int stage = 0; stage < depth; stage++) {
      int rank = placement.rankOf(stage);
      stages.add(
          new StagePlan(
              stage * costs.size() / depth,
              (stage + 1) * costs.size() / depth - 1,
              List.of(2 * rank, 2 * rank + 1),
              recompute,
              inFlight[stage]));
    }
    return new PipelinePlan(order, MICRO_BATCHES, 2, 1, false, stages);
  }

  /** Optimizer state that is sharded makes no pass longer, whether its backward pass is split. */
  @ParameterizedTest
  @MethodSource("schedules")
  void passesTakeAsLongAsWithoutZero1(String schedule) {
    StageCosts costs = costs();
    PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
    for (Recompute recompute : List.of(Recompute.NONE, Recompute.STAGE_INPUT)) {
      PipelinePlan plan = plan(schedule, costs, recompute);
      List<StageCost> whole = oracle.stages(plan);
      List<StageCost> sharded = oracle.stages(plan.with(ZeroStage.OPTIMIZER));
      for (int stage = 0; stage < whole.size(); stage++) {
        StageCost expected = whole.get(stage);
        StageCost found = sharded.get(stage);
        double rounding = 1e-12 * expected.backwardSeconds();
        assertEquals(expected.forwardSeconds(), found.forwardSeconds(), rounding);
        assertEquals(expected.backwardSeconds(), found.backwardSeconds(), rounding);
        assertEquals(expected.weightSeconds(), found.weightSeconds(), rounding);
      }
    }
  }
}
