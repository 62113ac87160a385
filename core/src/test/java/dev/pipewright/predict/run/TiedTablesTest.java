package dev.pipewright.predict.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Software;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.profile.Provenance;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * A network whose head reads the table of its embedding: a table of 4 × 3200 × 16 bytes, counted
 * twice in a measured profile, beside 1000 bytes of each layer.
 */
class TiedTablesTest {
  private static final String MODEL =
      "gpt:layers=2,hidden=16,heads=2,sequence=8,vocabulary=3200"; // four layers
  private static final double TABLE = 4 * 3200 * 16;
  private static final double REST = 1000;

  private static StageCosts costs() {
    return costs(Precision.FP32);
  }

  private static StageCosts costs(Precision precision) {
    LayerGraph graph = Models.find(MODEL).orElseThrow().graph();
    List<LayerSizes> sizes =
        IntStream.range(0, 4)
            .mapToObj(i -> new LayerSizes(0, 0, REST + (i == 0 || i == 3 ? TABLE : 0)))
            .toList();
    Profile profile =
        new Profile(
            new Provenance("by hand", "k", "", true),
            precision,
            sizes,
            List.of(1),
            List.of(Collections.nCopies(4, new LayerTimes(2e-3, 3e-3, 1e-3, 1e-3))),
            List.of(Collections.nCopies(4, new LayerMemory(0, 0, 0))));
    return new StageCosts(
        new Workload(
            Chain.of(graph),
            profile,
            new Training(Optimizer.MOMENTUM, precision),
            Clusters.find("dapple-a:1x4").orElseThrow()));
  }

  private static RunPrediction runPrediction(
      List<StageLayers> stages, int replicas, boolean overlap) {
    return new RunPrediction(
        costs(),
        new Assignment(
            OneForwardOneBackward.of(stages.size(), 2),
            stages,
            Collections.nCopies(stages.size(), replicas),
            2 * replicas,
            overlap));
  }

  private static double sum(double bytes, int... devices) {
    return Collectives.achieved(costs().workload().cluster(), devices).allReduce(bytes);
  }

  /** By the first and the last of three stages, behind their passes. */
  @Test
  void stagesThatReadItSumItsGradients() {
    List<StageLayers> stages =
        List.of(StageLayers.keeping(0, 0), StageLayers.keeping(1, 2), StageLayers.keeping(3, 3));
    RunPrediction runPrediction = runPrediction(stages, 1, false);
    double apart = sum(TABLE, 0, 2);
    assertArrayEquals(new double[] {apart, 0, apart}, runPrediction.times().step().reduce(), 1e-12);
    // The first micro-batch is back in the middle after 11 ms, which computes it and the second one
    // for 12; the first stage is left with 3.
    double passes = 26e-3;
    assertEquals(passes + apart + 1e-3, runPrediction.longestPath().makespan(), 1e-9);
    assertEquals(passes + apart + 1e-3, runPrediction.predictedStepSeconds(), 1e-9);
  }

  @Test
  void replicasSumItByItself() {
    List<StageLayers> all = List.of(StageLayers.keeping(0, 3));
    double reduce = runPrediction(all, 2, false).times().step().reduce()[0];
    assertEquals(sum(4 * REST, 0, 1) + sum(TABLE, 0, 1), reduce, 1e-12);
  }

  /** All copies and replicas are one group. */
  @Test
  void replicatedStagesSumItTogether() {
    List<StageLayers> stages = List.of(StageLayers.keeping(0, 1), StageLayers.keeping(2, 3));
    double[] reduce = runPrediction(stages, 2, false).times().step().reduce();
    double together = sum(TABLE, 0, 1, 2, 3);
    assertArrayEquals(
        new double[] {sum(2 * REST, 0, 1) + together, sum(2 * REST, 2, 3) + together},
        reduce,
        1e-12);
  }

  /**
   * Each has half of the moments. The sum of the table and room for it are no more than its two
   * gradients were, so most is held while the other gradients leave for their sum.
   */
  @Test
  void replicasThatShareStatesSumItInItsOwnMemory() {
    Assignment replicas =
        new Assignment(
            OneForwardOneBackward.of(1, 2),
            List.of(StageLayers.keeping(0, 3)),
            List.of(2),
            4,
            false);
    LayerGraph graph = costs().workload().chain().graph();
    double rest = 4 * graph.parameters() - TABLE;
    double peak = new RunPrediction(costs(), replicas.sharded(ZeroStage.OPTIMIZER)).peakBytes()[0];
    double beside = peak - 1.5 * (rest + TABLE);
    assertTrue(rest + 2 * TABLE <= beside && beside < 2.5 * TABLE, "beside: " + beside);
  }

  /** Gradients have 32 bits, parameters 16: those are summed, these are gathered. */
  @Test
  void replicasThatShareStatesSumItsGradientsAndGatherItsParameters() {
    StageCosts costs = costs(Precision.BF16);
    List<StageLayers> all = List.of(StageLayers.keeping(0, 3));
    Assignment replicas =
        new Assignment(OneForwardOneBackward.of(1, 2), all, List.of(2), 4, false)
            .sharded(ZeroStage.OPTIMIZER);
    Collectives two = Collectives.achieved(costs.workload().cluster(), new int[] {0, 1});
    double rest = 4 * costs.workload().chain().graph().parameters() - TABLE;
    OpTimes times = new RunPrediction(costs, replicas).times();
    double sums = two.reduceScatter(rest) + two.reduceScatter(TABLE);
    assertEquals(sums, times.step().reduce()[0], 1e-12);
    double gathers = two.allGather(rest / 2) + two.allGather(TABLE / 2);
    double whole = costs.seconds(Quantity.UPDATE, 2, 0, 4);
    assertEquals(whole / 2 + gathers, times.step().update()[0], 1e-12);
  }

  /** Its gradients have no room in buckets: two are there when the step ends. */
  @Test
  void replicasHoldNoBucketForIt() {
    List<StageLayers> all = List.of(StageLayers.keeping(0, 3));
    double states = 2 * (4 * REST + TABLE); // parameters and moments
    double gradients = 4 * REST + 2 * TABLE;
    assertArrayEquals(
        new double[] {states + gradients + 4 * REST},
        runPrediction(all, 2, true).peakBytes(),
        1e-9);
  }

  /** The embedding in the first of two chunks of a worker, the head in the last. */
  @Test
  void twoStagesOfAWorkerHoldItOnce() {
    List<StageLayers> stages =
        IntStream.range(0, 4).mapToObj(i -> StageLayers.keeping(i, i)).toList();
    Assignment one = new Assignment(Interleaved.of(1, 4, 1), stages, List.of(1), 1, false);
    double states = 2 * (4 * REST + TABLE);
    double gradients = 4 * REST + 2 * TABLE;
    assertArrayEquals(
        new double[] {states + gradients}, new RunPrediction(costs(), one).peakBytes(), 1e-9);
  }

  /** What a planner counts of each stage is what training is predicted to hold of it. */
  @Test
  void plannersCountItInEachStage() {
    List<StageLayers> stages = List.of(StageLayers.keeping(0, 1), StageLayers.keeping(2, 3));
    for (StageCosts costs : List.of(costs(), countedOnce())) {
      Assignment assignment =
          new Assignment(OneForwardOneBackward.of(2, 2), stages, List.of(1, 1), 2, false);
      double[] peaks = new RunPrediction(costs, assignment).peakBytes();
      assertEquals(3 * (2 * REST + TABLE), costs.staticBytes(0, 2), 1e-9);
      assertEquals(3 * (2 * REST + TABLE), costs.staticBytes(2, 4), 1e-9);
      assertEquals(3 * (4 * REST + TABLE), costs.staticBytes(0, 4), 1e-9);
      assertArrayEquals(
          new double[] {costs.staticBytes(0, 2), costs.staticBytes(2, 4)}, peaks, 1e-9);
      assertEquals(costs.staticBytes(2, 4), costs.states(2, 4).all(), 1e-9);
    }
  }

  private static RunPrediction asynchronous(AsyncPipeline asyncPipeline) {
    return new RunPrediction(costs(), inTwoStages(asyncPipeline));
  }

  private static Assignment inTwoStages(AsyncPipeline asyncPipeline) {
    List<StageLayers> stages = List.of(StageLayers.keeping(0, 1), StageLayers.keeping(2, 3));
    return Assignment.of(asyncPipeline, stages, List.of(1, 1), asyncPipeline.microBatches());
  }

  /**
   * A stage's update keeps an older version of what it alone has and hands the table's gradients
   * on. The next of its two forward passes adds up what both have handed on, and updates the table.
   */
  @Test
  void stepsThatFlowExchangeItsGradients() {
    double rate = costs().workload().cluster().device(0).memoryBandwidth().value();
    double all = 2 * REST + TABLE;
    double learning = 2e-3 + 2 * all / rate;
    OpTimes times = asynchronous(new AsyncPipeline.DoubleBuffered(2, 2, false)).times();
    double update = learning * 2 * REST / all + 2 * TABLE / rate;
    assertArrayEquals(new double[] {update, update}, times.step().update(), 1e-12);
    double forward = 4e-3 + (learning * TABLE / all + 3 * TABLE / rate) / 2;
    assertArrayEquals(new double[] {forward, forward}, times.forward(), 1e-12);
    double backward = 6e-3 + 4 * all / rate / 2;
    assertArrayEquals(new double[] {backward, backward}, times.input(), 1e-12);
  }

  /** The exchange begins with the update, and takes from it what computing does not hide. */
  @Test
  void messagesBetweenItsStagesTakeFromUpdates() {
    Workload idle = costs().workload();
    Cluster cluster = idle.cluster().withSoftware(Software.IDEAL.withOverlap(0.25));
    StageCosts busy =
        new StageCosts(new Workload(idle.chain(), idle.profile(), idle.training(), cluster));
    AsyncPipeline asyncPipeline = new AsyncPipeline.DoubleBuffered(2, 2, false);
    double before = asynchronous(asyncPipeline).times().step().update()[0];
    double after = new RunPrediction(busy, inTwoStages(asyncPipeline)).times().step().update()[0];
    double message = Collectives.achieved(cluster, new int[] {0, 1}).pointToPoint(TABLE);
    assertEquals(0.75 * message, after - before, 1e-12);
  }

  private static StageCosts countedOnce() {
    Workload workload = costs().workload();
    Profile said = workload.profile();
    List<LayerSizes> once =
        IntStream.range(0, 4)
            .mapToObj(i -> new LayerSizes(0, 0, REST + (i == 0 ? TABLE : 0)))
            .toList();
    List<LayerTimes> quick = new ArrayList<>(said.times(0));
    quick.set(3, quick.get(3).updatedIn(1e-3 * REST / (REST + TABLE)));
    return new StageCosts(
        new Workload(
            workload.chain(),
            said.with(once, List.of(quick)),
            workload.training(),
            workload.cluster()));
  }

  /** A profile that is made from the network alone counts the table once, a worker holds it. */
  @Test
  void aCopyCountsThatNoProfileSays() {
    StageCosts uncounted = countedOnce();
    for (AsyncPipeline asyncPipeline :
        List.of(
            new AsyncPipeline.DoubleBuffered(2, 2, false),
            new AsyncPipeline.PipeDream(List.of(1, 1), false))) {
      Assignment assignment = inTwoStages(asyncPipeline);
      RunPrediction counted = new RunPrediction(costs(), assignment);
      RunPrediction found = new RunPrediction(uncounted, assignment);
      assertArrayEquals(counted.peakBytes(), found.peakBytes(), 1e-6, asyncPipeline.name());
      assertArrayEquals(
          counted.times().step().update(),
          found.times().step().update(),
          1e-12,
          asyncPipeline.name());
    }
  }

  /**
   * Of each stage the newest parameters, moments and a sum; of the table both gradients of the last
   * two updates when all passes are done, and in the first stage the version before, which passes
   * had needed.
   */
  @Test
  void stepsThatFlowHoldBothItsGradients() {
    double stage = 2 * REST + TABLE;
    for (AsyncPipeline asyncPipeline :
        List.of(
            new AsyncPipeline.DoubleBuffered(2, 2, false),
            new AsyncPipeline.PipeDream(List.of(1, 1), false))) {
      double[] peaks = asynchronous(asyncPipeline).peakBytes();
      assertEquals(3 * stage + 2 * 2 * TABLE, peaks[1], 2 * REST + 1e-6, asyncPipeline.name());
      assertEquals(
          3 * stage + (2 * 2 + 1) * TABLE, peaks[0], 2 * REST + 1e-6, asyncPipeline.name());
    }
  }
}
