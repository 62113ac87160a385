package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.exchange.GroupExchanges;
import dev.pipewright.model.Chain;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What two stages that divide layers alike send each other, and what others gather. */
class AlikeStagesTest {
  private static final int TOKENS = 64;
  private static final int HIDDEN = 32;
  private static final int SAMPLES = 4;
  private static final Workload WORKLOAD = workload();
  private static final int CUT = WORKLOAD.chain().size() / 2; // between two blocks
  private static final double BYTES = 4.0 * SAMPLES * TOKENS * HIDDEN; // over it
  private static final StageCosts COSTS = new StageCosts(WORKLOAD);
  private static final PipelineOracle ORACLE = new PipelineOracle(COSTS, new PathFormula());

  private static Workload workload() {
    ZooModel model =
        Models.find("llama:layers=6,hidden=32,heads=4,kv-heads=2,ffn=64,sequence=64,vocabulary=100")
            .orElseThrow();
    Cluster cluster = Clusters.find("dapple-a:1x8").orElseThrow();
    return new Workload(
        Chain.of(model.graph()),
        Roofline.profile(model.graph(), cluster, model.training(), List.of(1)),
        model.training(),
        cluster);
  }

  private static PipelinePlan plan(String first, String second) {
    Parallelism before = Parallelism.parse(first).orElseThrow();
    Parallelism after = Parallelism.parse(second).orElseThrow();
    int last = WORKLOAD.chain().size() - 1;
    return new PipelinePlan(
        PipelinePolicy.A,
        2,
        SAMPLES,
        1,
        false,
        List.of(
            new StagePlan(0, CUT - 1, devices(0), before, Recompute.NONE, 2, List.of()),
            new StagePlan(CUT, last, devices(4), after, Recompute.NONE, 1, List.of())));
  }

  private static List<Integer> devices(int first) {
    return IntStream.range(first, first + 4).boxed().toList();
  }

  private static double between(PipelinePlan plan) {
    int[] from = ORACLE.groups(plan, 0).devices();
    int[] to = ORACLE.groups(plan, 1).devices();
    return SplitConcat.betweenPasses(WORKLOAD.cluster(), from, to).seconds(BYTES);
  }

  private static double input(PipelinePlan plan) {
    Parallelism own = plan.stages().get(1).parallelism();
    return ORACLE.part(own, plan.dividesAlike()).inputBytes(CUT, SAMPLES);
  }

  /** Each device sends its tokens to the one that goes on with them, and keeps no others. */
  @ParameterizedTest
  @CsvSource({"sequence:4", "context:4", "sequence:2x2"})
  void whatIsDividedByTokensStaysSo(String split) {
    PipelinePlan plan = plan(split, split);
    assertTrue(plan.dividesAlike());
    assertEquals(between(plan), ORACLE.stages(plan).get(0).sendSeconds());
    assertEquals(between(plan), ORACLE.stages(plan).get(0).returnSeconds());
    assertEquals(BYTES / 4, input(plan), 1e-9 * BYTES);
  }

  /** Whole tensors are needed on both sides: each device receives a part, and gathers the rest. */
  @ParameterizedTest
  @CsvSource({"tensor:4, tensor:4", "sequence:4, context:4", "context:4, sequence:4"})
  void whatIsNotIsGathered(String first, String second) {
    PipelinePlan plan = plan(first, second);
    assertEquals(first.equals(second), plan.dividesAlike());
    double there = between(plan) + ORACLE.groups(plan, 1).tensor().allGather(BYTES);
    double back = between(plan) + ORACLE.groups(plan, 0).tensor().allGather(BYTES);
    assertEquals(there, ORACLE.stages(plan).get(0).sendSeconds(), 1e-12);
    assertEquals(back, ORACLE.stages(plan).get(0).returnSeconds(), 1e-12);
    assertEquals(BYTES, input(plan), 1e-9 * BYTES);
  }

  /** The first stage gathers its output, the second one the gradient of its input. */
  @Test
  void gathersAtTheCutAreThoseOfStagesThatDiffer() {
    Parallelism split = Parallelism.parse("sequence:4").orElseThrow();
    LayerRange first = new LayerRange(0, CUT - 1);
    LayerRange second = new LayerRange(CUT, WORKLOAD.chain().size() - 1);
    for (LayerRange stage : List.of(first, second)) {
      List<String> more = exchanges(stage, split, false);
      exchanges(stage, split, true).forEach(each -> assertTrue(more.remove(each), each));
      String pass = stage.equals(first) ? "forward" : "backward";
      assertEquals(List.of(pass + " GATHER " + TOKENS * HIDDEN), more);
    }
  }

  private static List<String> exchanges(LayerRange stage, Parallelism split, boolean alike) {
    List<String> found = new ArrayList<>();
    Chain chain = WORKLOAD.chain();
    for (GroupExchange each : GroupExchanges.of(chain, stage, split, alike)) {
      assertTrue(
          Arrays.stream(chain.layers(stage.first() - 1, stage.last()))
              .anyMatch(layer -> layer == each.layer()),
          "counted in another stage: " + each);
      String pass = each.forward() ? "forward" : "backward";
      found.add("%s %s %d".formatted(pass, each.kind(), each.elements()));
    }
    return found;
  }

  /** Parts of samples are sent where workers of both stages have the same ones. */
  @Test
  void otherReplicasHaveOtherSamples() {
    Parallelism split = Parallelism.ofWholeSequences(2);
    StagePlan first = new StagePlan(0, CUT - 1, devices(0), split, Recompute.NONE, 2, List.of());
    int last = WORKLOAD.chain().size() - 1;
    StagePlan same = new StagePlan(CUT, last, devices(4), split, Recompute.NONE, 1, List.of());
    StagePlan fewer =
        new StagePlan(CUT, last, devices(4).subList(0, 2), split, Recompute.NONE, 1, List.of());
    assertTrue(of(first, same).dividesAlike());
    assertFalse(of(first, fewer).dividesAlike());
    for (PipelinePlan plan :
        List.of(
            of(first, same),
            of(first, fewer),
            plan("sequence:4", "sequence:4"),
            plan("sequence:4", "context:4"))) {
      assertEquals(plan.dividesAlike(), Assignment.of(plan).dividesAlike());
    }
  }

  private static PipelinePlan of(StagePlan... stages) {
    return new PipelinePlan(PipelinePolicy.A, 2, SAMPLES, 1, false, List.of(stages));
  }
}
