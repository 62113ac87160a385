package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Setting.Exchange;
import dev.pipewright.predict.paradl.Setting.Formulas;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Pipelines against the planner's cost model and against closed forms. */
class PlanEstimateTest {
  private static Setting setting(Workload workload, int group, int segments) {
    return new Setting(
        workload,
        1000,
        Formulas.CORRECTED,
        Exchange.USUAL,
        OptionalInt.of(group),
        OptionalInt.of(segments),
        OptionalDouble.empty(),
        Optional.empty());
  }

  /** The same pipeline as a plan: group by group, the devices of a group in the order of stages. */
  private static PipelinePlan plan(ParadlNetwork network, Layout layout, int microBatch) {
    StageCut cut = network.stages(layout.stages());
    List<StagePlan> stages = new ArrayList<>();
    for (int stage = 0; stage < layout.stages(); stage++) {
      List<Integer> devices = new ArrayList<>();
      for (int group = 0; group < layout.groups(); group++) {
        devices.add(group * layout.stages() + stage);
      }
      int first = cut.costs().inChain(cut.first(stage));
      int last = cut.costs().inChain(cut.end(stage)) - 1;
      int inFlight = Math.min(layout.stages() - stage, layout.segments());
      stages.add(new StagePlan(first, last, devices, Recompute.NONE, inFlight));
    }
    return new PipelinePlan(
        PipelinePolicy.A,
        layout.segments(),
        microBatch,
        layout.groups(),
        layout.groups() > 1,
        stages);
  }

  @RepeatedTest(value = 200, name = SmallNet.SEEDED)
  void phasesAddUpToTheStepOfTheSamePlan(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Workload workload = SmallNet.random(random).on(SmallNet.nodes(4, 1), random.nextLong());
    ParadlNetwork network = new ParadlNetwork(workload, Optional.empty());
    int stages = random.nextInt(1, Math.min(4, network.shapes().mostStages()) + 1);
    int groups = random.nextInt(1, 5);
    int segments = random.nextInt(1, 13);
    int microBatch = random.nextInt(1, 5);
    long batch = (long) groups * segments * microBatch;
    Predicted predicted =
        assertInstanceOf(
            Predicted.class,
            new ParadlOracle(setting(workload, stages, segments))
                .predict(Strategy.DATA_PIPELINE, groups * stages, batch));
    var assessment =
        CostModel.PIPEWRIGHT
            .oracle(network.costs())
            .assess(plan(network, predicted.layout(), microBatch));
    double step = assessment.stepSeconds();
    assertEquals(step, predicted.iterationSeconds(), 1e-12 * step);
    double busiest = 0;
    double fullest = 0;
    for (var stage : assessment.stages()) {
      busiest = Math.max(busiest, segments * (stage.forwardSeconds() + stage.backwardSeconds()));
      fullest = Math.max(fullest, stage.memory().peakBytes());
    }
    assertEquals(
        busiest, predicted.phases().seconds(Phase.FORWARD_BACKWARD), 1e-12 * (1 + busiest));
    assertEquals(fullest, predicted.memory().total(), 1e-12 * fullest);
    for (Phase phase : Phase.values()) {
      assertTrue(predicted.phases().seconds(phase) >= 0, phase.label());
    }
  }

  /** One forward and two backward, four equal stages, eight micro-batches: (S−1)/(M+S−1) idle. */
  @Test
  void thePipelineOfEqualStagesWaitsForItsBubble() {
    Predicted predicted = equalStages(4, 8);
    assertEquals(3.0 * (8 + 4 - 1), predicted.iterationSeconds(), 1e-9);
    assertEquals(24, predicted.phases().seconds(Phase.FORWARD_BACKWARD), 1e-9);
    assertEquals(9, predicted.phases().seconds(Phase.WAITING), 1e-9);
    assertEquals(0, predicted.phases().communication(), 1e-9);
    assertEquals(0, equalStages(1, 8).phases().seconds(Phase.WAITING), 1e-9);
    assertEquals(9, equalStages(4, 1).phases().seconds(Phase.WAITING), 1e-9);
  }

  private static Predicted equalStages(int stages, int microBatches) {
    Link free = Link.of(0, 1e30);
    Cluster cluster =
        Cluster.uniform(
            "free", Samples.kind("k", 1L << 30, 1e12), List.of(new Level("node", free, free)), 4);
    LayerTimes times = new LayerTimes(1, 2, Double.NaN, 0);
    Profile profile =
        new Profile(
            new Provenance("made up", "k", "", false),
            Precision.FP32,
            Collections.nCopies(4, new LayerSizes(1, 1, 1)),
            List.of(1),
            List.of(Collections.nCopies(4, times)));
    Training training = new Training(Optimizer.SGD, Precision.FP32);
    Workload workload = new Workload(Chain.of(Samples.chain(4)), profile, training, cluster);
    return assertInstanceOf(
        Predicted.class,
        new ParadlOracle(setting(workload, stages, microBatches))
            .predict(Strategy.PIPELINE, stages, microBatches));
  }

  @Test
  void segmentsAreFourForEachStageWhereTheBatchAllowsIt() {
    Workload workload = SmallNet.random(new SplittableRandom(5)).on(SmallNet.nodes(1, 1), 5);
    ParadlOracle oracle = new ParadlOracle(Setting.of(workload, 1000));
    assertEquals(8, segments(oracle, 64));
    assertEquals(6, segments(oracle, 6)); // no more than samples
    assertEquals(5, segments(oracle, 15)); // equal ones
  }

  private static int segments(ParadlOracle oracle, long batch) {
    var prediction = oracle.predict(Strategy.PIPELINE, 2, batch);
    return assertInstanceOf(Predicted.class, prediction).layout().segments();
  }
}
