package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.predict.paradl.Prediction.Impossible;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.units.Bytes;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Strategies that are priced as plans, against the plans and against every choice of degrees. */
class PlanStrategiesTest {
  private static final long BATCH = 16;
  private static final int DEVICES = 8;
  private static final Cluster CLUSTER = Clusters.find("dapple-a:2x4").orElseThrow();

  static Stream<Strategy> strategies() {
    return Arrays.stream(Strategy.values()).filter(Strategy::accumulates);
  }

  static Stream<Strategy> blocks() {
    return strategies().filter(Strategy::dividesBlocks);
  }

  private static Workload workload(Cluster cluster) {
    return workload("gpt:layers=6,hidden=512,heads=8,sequence=256,vocabulary=8192", cluster);
  }

  private static Workload workload(String name, Cluster cluster) {
    ZooModel model = Models.find(name).orElseThrow();
    var profile =
        Roofline.profile(model.graph(), cluster, model.training(), List.of(1, 2, 4, 8, 16));
    return new Workload(Chain.of(model.graph()), profile, model.training(), cluster);
  }

  /** With experts where the strategy divides them. */
  private static Workload workload(Strategy strategy, Cluster cluster) {
    return strategy.split() == Strategy.Split.EXPERTS
        ? workload(
            "mixtral:layers=6,hidden=512,heads=8,kv-heads=4,ffn=1024,sequence=256,vocabulary=8192,experts=8,chosen=2",
            cluster)
        : workload(cluster);
  }

  private static Prediction predict(
      Workload workload, Strategy strategy, int devices, ParallelDegrees degrees) {
    return new ParadlOracle(Setting.of(workload, 1000).with(degrees))
        .predict(strategy, devices, BATCH);
  }

  private static ParallelDegrees fixed(
      int tensor, int pipeline, int data, int microBatch, Recompute how) {
    return new ParallelDegrees(
        OptionalInt.of(tensor),
        OptionalInt.of(pipeline),
        OptionalInt.of(data),
        OptionalInt.of(microBatch),
        PipelineSchedule.of(PipelinePolicy.A),
        List.of(how));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void timeAndMemoryAreThoseOfThePlan(Strategy strategy) {
    Workload workload = workload(strategy, CLUSTER);
    StageCosts costs = new StageCosts(workload);
    int seen = 0;
    for (Recompute how : List.of(Recompute.NONE, Recompute.SELECTIVE, Recompute.STAGE_INPUT)) {
      ParallelDegrees degrees =
          new ParallelDegrees(
              OptionalInt.empty(),
              OptionalInt.empty(),
              OptionalInt.empty(),
              OptionalInt.empty(),
              PipelineSchedule.of(PipelinePolicy.A),
              List.of(how));
      for (int devices : new int[] {1, 2, 4, 8}) {
        if (predict(workload, strategy, devices, degrees) instanceof Predicted predicted) {
          PipelinePlan plan = predicted.plan().orElseThrow();
          Assessment assessment = CostModel.PIPEWRIGHT.oracle(costs).assess(plan);
          double step = assessment.stepSeconds();
          assertEquals(step, predicted.iterationSeconds(), 1e-9 * step, strategy.label());
          assertEquals(assessment.peakBytes(), predicted.memory().total(), 1e-9 * 1e9);
          assertEquals(BATCH, plan.globalBatch());
          assertEquals(devices, plan.devices());
          assertEquals(how, plan.stages().get(0).recompute());
          seen++;
        }
      }
    }
    assertTrue(seen >= 9, strategy.label());
  }

  static Stream<String> schedules() {
    return ScheduleCatalog.entries().stream()
        .filter(entry -> entry.isSynchronousPipeline() && !entry.needsDurations())
        .map(ScheduleEntry::name);
  }

  /** Stages of two ranks, or two stages on each of two, in any schedule that counts decide. */
  @ParameterizedTest
  @MethodSource("schedules")
  void everyScheduleIsPricedAsItsPlan(String name) {
    ScheduleEntry entry = ScheduleCatalog.find(name).orElseThrow();
    Workload workload = workload(CLUSTER);
    ParallelDegrees degrees =
        new ParallelDegrees(
            OptionalInt.of(2),
            OptionalInt.of(2),
            OptionalInt.of(2),
            OptionalInt.of(1),
            PipelineSchedule.of(entry, entry.chunks()),
            List.of(Recompute.NONE));
    Prediction prediction = predict(workload, Strategy.DATA_TENSOR_PIPELINE, DEVICES, degrees);
    Predicted predicted = assertInstanceOf(Predicted.class, prediction, prediction::toString);
    PipelinePlan plan = predicted.plan().orElseThrow();
    assertEquals(name, plan.spec().scheduleName());
    Assessment assessment = CostModel.PIPEWRIGHT.oracle(new StageCosts(workload)).assess(plan);
    double step = assessment.stepSeconds();
    assertEquals(step, predicted.iterationSeconds(), 1e-9 * step);
    assertEquals(assessment.peakBytes(), predicted.memory().total(), 1e-9 * 1e9);
    assertTrue(predicted.phases().seconds(Phase.LAYER_ALL_REDUCE) > 0);
    assertEquals(DEVICES, plan.devices());
  }

  @Test
  void aScheduleThatIsNotForSoManyMicroBatchesSaysSo() {
    ScheduleEntry chimera = ScheduleCatalog.find("chimera").orElseThrow();
    ParallelDegrees degrees =
        new ParallelDegrees(
            OptionalInt.of(1),
            OptionalInt.of(4),
            OptionalInt.of(1),
            OptionalInt.of(16), // one micro-batch for two directions
            PipelineSchedule.of(chimera, 1),
            List.of(Recompute.NONE));
    Prediction prediction = predict(workload(CLUSTER), Strategy.DATA_TENSOR_PIPELINE, 4, degrees);
    String why = assertInstanceOf(Impossible.class, prediction).why();
    assertTrue(why.contains("micro-batches"), why);
  }

  /** Each choice by itself: nothing that fits is faster, and one is as fast. */
  @ParameterizedTest
  @MethodSource("blocks")
  void theDegreesAreTheFastestThatFit(Strategy strategy) {
    for (double memory : new double[] {16e9, 1.5e9, 0.9e9}) {
      Workload workload = workload(strategy, CLUSTER.withMemory(Bytes.of(memory)));
      List<Predicted> all = new ArrayList<>();
      for (int tensor : new int[] {1, 2, 4, 8}) {
        for (int pipeline : new int[] {1, 2, 4, 8}) {
          for (int microBatch : new int[] {1, 2, 4, 8, 16}) {
            int data = DEVICES / tensor / pipeline;
            boolean inNode = !strategy.hybrid() || tensor <= 4;
            if (data > 0
                && inNode
                && (strategy.pipelined() || pipeline == 1)
                && predict(
                        workload,
                        strategy,
                        DEVICES,
                        fixed(tensor, pipeline, data, microBatch, Recompute.NONE))
                    instanceof Predicted predicted) {
              all.add(predicted);
            }
          }
        }
      }
      Predicted best =
          assertInstanceOf(
              Predicted.class, predict(workload, strategy, DEVICES, ParallelDegrees.OPEN));
      List<Predicted> fitting = all.stream().filter(Predicted::fits).toList();
      assertEquals(!fitting.isEmpty(), best.fits(), strategy + " " + memory);
      double least =
          fitting.isEmpty()
              ? all.stream().mapToDouble(p -> p.memory().total()).min().orElseThrow()
              : fitting.stream().mapToDouble(Predicted::iterationSeconds).min().orElseThrow();
      double own = fitting.isEmpty() ? best.memory().total() : best.iterationSeconds();
      assertEquals(least, own, 1e-12 * least, strategy + " " + memory);
    }
  }

  @Test
  void recomputationMakesRoomAndTakesTime() {
    Workload workload = workload(CLUSTER);
    Predicted keeps =
        (Predicted) predict(workload, Strategy.TENSOR, 4, fixed(4, 1, 1, 16, Recompute.NONE));
    Predicted layers =
        (Predicted) predict(workload, Strategy.TENSOR, 4, fixed(4, 1, 1, 16, Recompute.SELECTIVE));
    assertTrue(layers.memory().total() < keeps.memory().total());
    assertTrue(layers.iterationSeconds() > keeps.iterationSeconds());
    assertTrue(
        layers.phases().seconds(Phase.LAYER_ALL_REDUCE)
            > keeps.phases().seconds(Phase.LAYER_ALL_REDUCE));
    assertEquals(0, keeps.phases().seconds(Phase.LAYER_ALL_GATHER), 1e-12);
  }

  /** Each layer's two all-reduces forward and two backward become gathers and scatters. */
  @Test
  void sequenceParallelismGathersWhereTensorParallelismSums() {
    Workload workload = workload(CLUSTER);
    Predicted tensor = (Predicted) predict(workload, Strategy.TENSOR, 4, ParallelDegrees.OPEN);
    Predicted sequence = (Predicted) predict(workload, Strategy.SEQUENCE, 4, ParallelDegrees.OPEN);
    assertTrue(tensor.phases().seconds(Phase.LAYER_ALL_REDUCE) > 0);
    assertTrue(sequence.phases().seconds(Phase.LAYER_ALL_GATHER) > 0);
    assertTrue(
        sequence.phases().seconds(Phase.LAYER_ALL_REDUCE)
            < tensor.phases().seconds(Phase.LAYER_ALL_REDUCE));
  }

  @Test
  void degreesThatDoNotDivideTheDevicesAreImpossible() {
    Workload workload = workload(CLUSTER);
    Prediction none =
        predict(
            workload, Strategy.DATA_TENSOR_PIPELINE, DEVICES, fixed(4, 4, 1, 1, Recompute.NONE));
    assertEquals(
        "no degrees of tensor, pipeline and data parallelism within those asked for divide 8 devices,"
            + " and the batch of 16 into equal micro-batches",
        assertInstanceOf(Impossible.class, none).why());
    Prediction many = predict(workload, Strategy.TENSOR, DEVICES, ParallelDegrees.OPEN);
    assertEquals(8, many.limits().get(0).devices());
    assertEquals("block-1 has 8 heads", many.limits().get(0).why());
  }
}
