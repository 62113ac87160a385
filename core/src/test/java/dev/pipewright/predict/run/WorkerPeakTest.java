package dev.pipewright.predict.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Link;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.exchange.Segment;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.model.Work;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.units.Precision;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Three layers whose parameters are 1000, 2000 and 4000 bytes under momentum: three times as much
 * with their gradients and what the rule remembers. All sums by hand.
 */
class WorkerPeakTest {
  private static final List<LayerSizes> SIZES =
      List.of(
          new LayerSizes(10, 100, 1000), new LayerSizes(20, 20, 2000), new LayerSizes(5, 0, 4000));
  private static final List<LayerMemory> MEMORY =
      List.of(
          new LayerMemory(1500, 110, 10), new LayerMemory(300, 25, 20), new LayerMemory(50, 8, 5));

  /**
   * @param memory of each layer, or of none
   */
  private static StageCosts costs(List<LayerSizes> sizes, List<LayerMemory> memory) {
    return costs(Samples.chain(3), sizes, memory);
  }

  private static StageCosts costs(
      LayerGraph graph, List<LayerSizes> sizes, List<LayerMemory> memory) {
    Profile profile =
        new Profile(
            new Provenance("by hand", "k", "", true),
            Precision.FP32,
            sizes,
            List.of(1),
            List.of(Collections.nCopies(3, new LayerTimes(2, 3, 1, 1))),
            memory.isEmpty() ? List.of() : List.of(memory));
    var cluster = Samples.plain(List.of(Link.of(0, 1000)), 2);
    var training = new Training(Optimizer.MOMENTUM, Precision.FP32);
    return new StageCosts(new Workload(Chain.of(graph), profile, training, cluster));
  }

  private static double[] peaks(Schedule schedule, List<StageLayers> stages, int... workers) {
    List<Integer> all = Arrays.stream(workers).boxed().toList();
    int batch = schedule.microBatches();
    boolean overlapped = workers[0] > 1;
    return new RunPrediction(
            costs(SIZES, MEMORY), new Assignment(schedule, stages, all, batch, overlapped))
        .peakBytes();
  }

  private static final List<StageLayers> WHOLE = List.of(StageLayers.keeping(0, 2));
  private static final List<StageLayers> TWO =
      List.of(StageLayers.keeping(0, 1), StageLayers.keeping(2, 2));

  @Test
  void gradientsComeAboutLayerByLayerInTheFirstBackwardPass() {
    // Parameters and moments 14000. When the first layer's pass comes, it has kept 100, what later
    // layers kept is gone, 6000 of gradients are there, and the output of 5 with its gradient.
    assertArrayEquals(
        new double[] {14_000 + 100 + 1500 + 6000 + 5 + 5}, peaks(GPipe.of(1, 1), WHOLE, 1), 1e-9);
  }

  @Test
  void gradientsOfAWorkerThatTrainsAloneAreGoneWithTheirUpdate() {
    long together = Segment.UPDATED_BYTES;
    List<LayerSizes> sizes =
        List.of(
            new LayerSizes(0, 0, together),
            new LayerSizes(0, 0, together - 1),
            new LayerSizes(0, 0, together));
    StageCosts costs = costs(sizes, Collections.nCopies(3, new LayerMemory(0, 0, 0)));
    double all = 3.0 * together - 1;
    // Layers 1 and 2 are updated together: the third's gradient is there when the second's comes.
    double[] gradients = {together, all};
    for (int microBatches = 1; microBatches <= 2; microBatches++) {
      Schedule schedule = OneForwardOneBackward.of(1, microBatches);
      var assignment = new Assignment(schedule, WHOLE, List.of(1), microBatches, true);
      double peak = new RunPrediction(costs, assignment).peakBytes()[0];
      assertEquals(2 * all + gradients[microBatches - 1], peak, 1e-3);
    }
  }

  @Test
  void laterBackwardPassesAddToAllGradients() {
    assertArrayEquals(
        new double[] {21_000 + 100 + 1500 + 5 + 5},
        peaks(OneForwardOneBackward.of(1, 2), WHOLE, 1),
        1e-9);
  }

  @Test
  void workersThatShareEveryMicroBatchHoldBucketsBesideGradients() {
    // One micro-batch each, and one bucket: 6000 of gradients are there beside the bucket of 7000.
    assertArrayEquals(
        new double[] {21_000 + 100 + 1500 + 6000 + 5 + 5}, peaks(GPipe.of(1, 1), WHOLE, 2), 1e-9);
    // The later of two micro-batches has all gradients beside it.
    assertArrayEquals(
        new double[] {21_000 + 7000 + 100 + 1500 + 5 + 5},
        peaks(OneForwardOneBackward.of(1, 2), WHOLE, 2),
        1e-9);
  }

  @Test
  void gradientsLeaveForTheirBucketAsSoonAsItIsComplete() {
    long bucket = RunPrediction.BUCKET_BYTES;
    List<LayerSizes> sizes =
        List.of(
            new LayerSizes(0, 0, bucket),
            new LayerSizes(0, 0, bucket - 1),
            new LayerSizes(0, 0, bucket));
    StageCosts costs = costs(sizes, Collections.nCopies(3, new LayerMemory(0, 0, 0)));
    double most = 0;
    for (int microBatches = 1; microBatches <= 3; microBatches++) {
      Assignment assignment =
          new Assignment(
              OneForwardOneBackward.of(1, microBatches), WHOLE, List.of(2), 2 * microBatches, true);
      double buckets = 3.0 * bucket - 1;
      // Layers 1 and 2 share a bucket: the third's gradient is there when the second's comes about.
      double beside = microBatches == 1 ? bucket : buckets;
      double peak = new RunPrediction(costs, assignment).peakBytes()[0];
      assertEquals(3 * buckets + beside, peak, 1e-3, "micro-batches: " + microBatches);
      most = Math.max(most, peak);
    }
    assertEquals(4 * (3.0 * bucket - 1), most, 1e-3);
  }

  @Test
  void aPipelineHasRoomForMessages() {
    // Rank 0 runs F0 F1 B0 B1. In B0 two micro-batches of 120 are in flight, the output of 20 of
    // one stays with its gradient, 2000 of gradients come about, and B1's message has room. In B1
    // all 3000 of gradients are there.
    double first = 6000 + 120 + 100 + 1500 + 2000 + 20 + 20 + 20;
    double later = 9000 + 100 + 1500 + 20 + 20;
    // Rank 1 runs F0 B0 F1 B1: an input of 20, an output of 5 that no layer keeps, and what its
    // layer needs, the output's gradient among it.
    double behind = 12_000 + 20 + 5 + 50;
    assertArrayEquals(
        new double[] {Math.max(first, later), behind},
        peaks(OneForwardOneBackward.of(2, 2), TWO, 1, 1),
        1e-9);
  }

  @Test
  void roomForMessagesMayDecide() {
    // GPipe: in F3 of rank 0 all 480 are in flight, with room for the gradients of three passes.
    double forward = 6000 + 4 * 120 - 20 + 1500 + 3 * 20;
    double first = 6000 + 3 * 120 + 100 + 1500 + 2000 + 20 + 20 + 3 * 20;
    double second = 9000 + 2 * 120 + 100 + 1500 + 20 + 20 + 2 * 20;
    assertTrue(forward < first && first < second);
    assertEquals(second, peaks(GPipe.of(2, 4), TWO, 1, 1)[0], 1e-9);
  }

  /** Everything that rank 0 keeps in two parts is 135, what its second part needs 30. */
  @Test
  void aBackwardPassInTwoPartsHoldsEverythingUntilTheSecond() {
    Schedule schedule = ZeroBubbleH1.of(2, 3);
    long[] program = schedule.packed(0);
    double now = 6000;
    double most = 0;
    boolean gradients = false;
    for (int at = 0; at < program.length; at++) {
      double room = 0;
      for (int next = at + 1; next < Math.min(program.length, at + 4); next++) {
        room += Schedule.pass(program[next]).propagates() ? 20 : 0;
      }
      switch (Schedule.pass(program[at])) {
        case FORWARD -> {
          now += 135;
          most = Math.max(most, now + room - 25 + (1500 - 10)); // 10 of which it keeps
        }
        case BACKWARD_INPUT -> {
          most = Math.max(most, now + room + 1500 + 20 + 20);
          now += 30;
        }
        default -> {
          most = Math.max(most, now + room + (1500 - 10) + (gradients ? 0 : 2000));
          now += (gradients ? 0 : 3000) - 135 - 30;
          gradients = true;
        }
      }
    }
    assertEquals(6000 + 3000, now);
    assertEquals(most, peaks(schedule, TWO, 1, 1)[0], 1e-9);
  }

  @Test
  void aStageThatRecomputesHoldsItsInputBetween() {
    StageLayers again =
        new StageLayers(new LayerRange(1, 2), Recompute.STAGE_INPUT, List.of(new LayerRange(1, 2)));
    double[] peaks = peaks(GPipe.of(2, 2), List.of(StageLayers.keeping(0, 0), again), 1, 1);
    // The last backward pass: all gradients, the input of 10, and again what was kept.
    assertEquals(18_000 + 10 + 20 + 300 + 5 + 5, peaks[1], 1e-9);
  }

  /**
   * The second backward pass: all gradients, its own samples, and what the third micro-batch holds,
   * the gradient of its loss included.
   */
  @Test
  void theLastMicroBatchOfAStageHoldsAllWhereItIsNotRecomputed() {
    double own = 21_000 + 100 + 1500 + 5 + 5;
    Schedule schedule = GPipe.of(1, 3);
    double third = 100 + 5;
    assertEquals(own + third, peaks(schedule, List.of(whole(Recompute.STAGE_INPUT)), 1)[0], 1e-9);
    assertEquals(
        own + third + 20 + 5, peaks(schedule, List.of(whole(Recompute.EXCEPT_LAST)), 1)[0], 1e-9);
    double[] alone = peaks(GPipe.of(1, 1), List.of(whole(Recompute.EXCEPT_LAST)), 1);
    assertArrayEquals(peaks(GPipe.of(1, 1), List.of(whole(Recompute.NONE)), 1), alone, 1e-9);
  }

  private static StageLayers whole(Recompute recompute) {
    return new StageLayers(new LayerRange(0, 2), recompute, List.of());
  }

  @Test
  void theOutputLeavesWithTheLastSegment() {
    double bucket = RunPrediction.BUCKET_BYTES;
    List<LayerSizes> sizes =
        List.of(
            new LayerSizes(0, 0, bucket), new LayerSizes(0, 0, 0), new LayerSizes(600, 0, bucket));
    List<LayerMemory> memory =
        List.of(
            new LayerMemory(0, bucket + 5000, 0, 0),
            new LayerMemory(0, 0, 0, 0),
            new LayerMemory(0, 0, 0, 0));
    List<Layer> layers =
        IntStream.range(0, 3)
            .mapToObj(i -> {
              long numbers = i == 1 ? 0 : RunPrediction.BUCKET_BYTES / 4;
              var operator = new Operator.Recorded("layer");
              return new Layer("layer" + i, operator, Optional.empty(), numbers, 0, 0, Work.NONE);
            })
            .toList();
    LayerGraph graph = LayerGraph.chain("chain", layers);
    Assignment assignment = new Assignment(GPipe.of(1, 1), WHOLE, List.of(2), 2, true);
    // The first layer is a segment of its own: of the output only the gradient is left.
    assertEquals(
        3 * 2 * bucket + 600 + bucket + 5000,
        new RunPrediction(costs(graph, sizes, memory), assignment).peakBytes()[0],
        1e-3);
  }

  /** As where the loss has scores of many classes. */
  @Test
  void eachPassNeedsItsOwn() {
    List<LayerMemory> memory =
        List.of(
            new LayerMemory(0, 0, 0, 0),
            new LayerMemory(0, 0, 0, 0),
            new LayerMemory(9000, 40, 0, 0));
    StageCosts costs = costs(SIZES, memory);
    Assignment assignment = new Assignment(GPipe.of(1, 1), WHOLE, List.of(1), 1, false);
    // The loss, beside what is kept; the output is part of what it needs.
    assertEquals(14_000 + 120 + 9000, new RunPrediction(costs, assignment).peakBytes()[0], 1e-9);
    Assignment two = new Assignment(OneForwardOneBackward.of(1, 2), WHOLE, List.of(1), 2, false);
    assertEquals(21_000 + 120 + 9000, new RunPrediction(costs, two).peakBytes()[0], 1e-9);
  }

  /** The gradient that comes in is in the pass's own need, unless that is less. */
  @Test
  void theLastLayersPassBeginsWithTheOutputsGradient() {
    List<LayerSizes> sizes =
        List.of(
            new LayerSizes(0, 0, 1000), new LayerSizes(0, 0, 2000), new LayerSizes(600, 500, 4000));
    for (double need : new double[] {50, 700}) {
      List<LayerMemory> memory =
          List.of(
              new LayerMemory(0, 0, 0, 0),
              new LayerMemory(0, 0, 0, 0),
              new LayerMemory(0, need, 0, 0));
      Assignment assignment =
          new Assignment(OneForwardOneBackward.of(1, 2), WHOLE, List.of(1), 2, false);
      // The output, of which the layer keeps 500, is there until the pass is over.
      assertEquals(
          21_000 + 600 + Math.max(need, 600),
          new RunPrediction(costs(sizes, memory), assignment).peakBytes()[0],
          1e-9);
    }
  }

  @Test
  void withoutMeasuredMemoryOnlyWhatIsHeldCounts() {
    Assignment assignment = new Assignment(GPipe.of(1, 1), WHOLE, List.of(1), 1, false);
    assertArrayEquals(
        new double[] {21_000 + 120},
        new RunPrediction(costs(SIZES, List.of()), assignment).peakBytes(),
        1e-9);
  }
}
