package dev.pipewright.planner.reasons;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.planner.AutoPlanner;
import dev.pipewright.planner.OneDevice;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.units.Bytes;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReasonsTest {
  private static final String SMALL =
      "gpt:layers=6;hidden=512;heads=8;sequence=128;vocabulary=1024";

  private static StageCosts costs(String network, Cluster cluster) {
    ZooModel model = Models.find(network.replace(';', ',')).orElseThrow();
    var profile =
        Roofline.profile(model.graph(), cluster, model.training(), List.of(1, 2, 4, 8, 16, 32));
    return new StageCosts(
        new Workload(Chain.of(model.graph()), profile, model.training(), cluster));
  }

  private static StageCosts costs(String network, String cluster) {
    return costs(network, Clusters.find(cluster).orElseThrow());
  }

  private static Oracle decides(StageCosts costs) {
    return new SimulatedOracle(new PipelineOracle(costs, new PathFormula()));
  }

  private static Candidate chosen(StageCosts costs, int globalBatch) {
    return AutoPlanner.plan(costs, Request.of(globalBatch), decides(costs), () -> false)
        .best()
        .orElseThrow();
  }

  private static List<PlanComparison> alternatives(
      StageCosts costs, int globalBatch, Candidate chosen) {
    return Alternatives.of(costs, Request.of(globalBatch), decides(costs), chosen);
  }

  private static PlanComparison dataParallel(StageCosts costs, int globalBatch, Candidate chosen) {
    return alternatives(costs, globalBatch, chosen).stream()
        .filter(comparison -> comparison.name().equals("data parallelism"))
        .findFirst()
        .orElseThrow();
  }

  /** What the planner leaves out is not faster; the parts of a step add up to it. */
  @ParameterizedTest
  @CsvSource({
    SMALL + ", dapple-b:2, 8",
    SMALL + ", dgx-h100:1x4, 8",
    "vgg-16, dapple-a:1x4, 8",
    "bert-48, dapple-a, 64",
  })
  void alternativesThatFitAreNoFaster(String network, String cluster, int globalBatch) {
    StageCosts costs = costs(network, cluster);
    Candidate chosen = chosen(costs, globalBatch);
    List<PlanComparison> found = alternatives(costs, globalBatch, chosen);
    assertTrue(!found.isEmpty());
    for (PlanComparison comparison : found) {
      Candidate other = comparison.other();
      assertEquals(globalBatch, other.plan().globalBatch());
      assertEquals(CostModel.PIPEWRIGHT.oracle(costs).assess(other.plan()), other.estimate());
      assertEquals(decides(costs).assess(other.plan()).stepSeconds(), other.seconds());
      assertEquals(other.seconds(), sum(comparison.parts()), 1e-9 * other.seconds());
      assertEquals(chosen.seconds(), sum(comparison.chosen()), 1e-9 * chosen.seconds());
      if (comparison.misfit().isEmpty()) {
        assertTrue(comparison.gap() >= -1e-9, comparison.sentence());
      }
    }
  }

  private static double sum(StepParts parts) {
    return Stream.of(StepPart.values()).mapToDouble(parts::of).sum();
  }

  /** The planner of data parallelism finds the same. */
  @Test
  void dataParallelismIsThatOfItsPlanner() {
    StageCosts costs = costs(SMALL, "dgx-h100:1x4");
    Request request = Request.of(16);
    Candidate planned =
        PlannerCatalog.steps("data")
            .orElseThrow()
            .search()
            .plan(costs, request, decides(costs), () -> false)
            .candidates()
            .stream()
            .filter(candidate -> candidate.plan().devices() == 4)
            .findFirst()
            .orElseThrow();
    PlanComparison found = dataParallel(costs, 16, alone(costs));
    assertEquals(planned.seconds(), found.other().seconds(), 1e-9 * planned.seconds());
  }

  @Test
  void aPlanThatDoesNotFitIsComparedAllTheSame() {
    Cluster small = Clusters.find("dapple-a").orElseThrow().withMemory(new Bytes(6L << 30));
    StageCosts costs = costs("bert-48", small);
    Candidate chosen = chosen(costs, 64);
    PlanComparison data = dataParallel(costs, 64, chosen);
    assertTrue(data.misfit().isPresent());
    assertTrue(
        data.sentence().startsWith("data parallelism (16 devices, micro-batches"), data.sentence());
    assertTrue(data.sentence().contains("does not fit: stage 0 needs "), data.sentence());
    assertTrue(data.sentence().contains(" of 6.00 GiB; it would take "), data.sentence());
  }

  /** Whoever sums whole gradients over slow links and one device waits for none. */
  @Test
  void theReasonIsWhatTheOtherPlanDoesLonger() {
    StageCosts costs = costs("vgg-16", "dapple-c:4");
    Candidate alone = alone(costs);
    PlanComparison data = dataParallel(costs, 32, alone);
    PlanComparison against = Alternatives.of("one device", costs, alone, data.other());
    assertTrue(data.gap() * against.gap() < 0);
    List<StepPart> slower = data.gap() > 0 ? data.reasons() : against.reasons();
    assertEquals(
        data.gap() > 0 ? StepPart.GRADIENTS : StepPart.COMPUTE, slower.get(0), data.sentence());
    PlanComparison same = Alternatives.of("the same", costs, alone, alone);
    assertEquals(0, same.gap());
    assertEquals(List.of(), same.reasons());
    assertTrue(same.sentence().endsWith(", as long as this plan"), same.sentence());
  }

  private static Candidate alone(StageCosts costs) {
    return OneDevice.best(costs, Request.of(32), decides(costs)).orElseThrow();
  }

  @Test
  void clustersChangeInOneRespect() {
    Cluster cluster = Clusters.find("dapple-a").orElseThrow();
    List<ClusterChange> changes = ClusterChange.of(cluster);
    assertEquals(
        List.of("one more machine", "10 % more memory", "twice the bandwidth between machines"),
        changes.stream().map(ClusterChange::words).toList());
    Cluster larger = changes.get(0).cluster();
    assertEquals(cluster.size() + 8, larger.size());
    assertEquals(cluster.machines() + 1, larger.machines());
    assertEquals(cluster.leastMemory(), larger.leastMemory());
    Cluster roomier = changes.get(1).cluster();
    assertEquals(
        1.1 * (double) cluster.device(0).deviceMemory().reported().value(),
        (double) roomier.device(0).deviceMemory().reported().value(),
        1);
    assertEquals(cluster.levels(), roomier.levels());
    Cluster faster = changes.get(2).cluster();
    assertEquals(cluster.devices(), faster.devices());
    assertEquals(cluster.levels().get(0), faster.levels().get(0));
    double bytes = 1e9;
    double latency = cluster.levels().get(1).collective().latency().value();
    assertEquals(
        (cluster.levels().get(1).collective().seconds(bytes) - latency) / 2,
        faster.levels().get(1).collective().seconds(bytes) - latency,
        1e-12);
    Cluster alone = Clusters.find("dapple-a:1x4").orElseThrow();
    assertEquals(5, ClusterChange.of(alone).get(0).cluster().size());
  }
}
