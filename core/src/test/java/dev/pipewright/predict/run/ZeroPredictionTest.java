package dev.pipewright.predict.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.Software;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.model.Work;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What shared states take of time and memory, by hand: two workers or more that hold all layers,
 * each of which is a segment of its own. Units are MiB and seconds.
 */
class ZeroPredictionTest {
  private static final double MIB = 1 << 20;
  private static final double ROUNDING = 1e-9;
  private static final LayerTimes EACH = new LayerTimes(1, 2, 0.5, 4);

  /**
   * @param parameters of each layer, MiB
   * @param rate MiB in a second, each way
   */
  private static StageCosts costs(
      int[] parameters, LayerTimes times, double rate, double overlap, LayerMemory memory) {
    List<Layer> layers = new ArrayList<>();
    List<LayerSizes> sizes = new ArrayList<>();
    for (int i = 0; i < parameters.length; i++) {
      long numbers = parameters[i] * (1L << 18);
      Operator operator = new Operator.Recorded("a layer");
      layers.add(new Layer("layer" + i, operator, Optional.empty(), numbers, 0, 0, Work.NONE));
      sizes.add(new LayerSizes(0, 0, parameters[i] * MIB));
    }
    int count = parameters.length;
    Profile profile =
        new Profile(
            new Provenance("by hand", "k", "", true),
            Precision.FP32,
            sizes,
            List.of(1),
            List.of(Collections.nCopies(count, times)),
            List.of(Collections.nCopies(count, memory)));
    Cluster cluster = Samples.plain(List.of(Link.of(0, rate * MIB)), 8);
    var training = new Training(Optimizer.MOMENTUM, Precision.FP32);
    Chain chain = Chain.of(LayerGraph.chain("by hand", layers));
    Cluster slowed = cluster.withSoftware(Software.IDEAL.withOverlap(overlap));
    return new StageCosts(new Workload(chain, profile, training, slowed));
  }

  private static final LayerMemory NO_MEMORY = new LayerMemory(0, 0, 0);

  private static Assignment assignment(
      Schedule schedule, List<StageLayers> stages, ZeroStage sharding, int replicas) {
    List<Integer> workers = Collections.nCopies(schedule.ranks(), replicas);
    int batch = schedule.microBatches() * replicas;
    return new Assignment(schedule, stages, workers, batch, true).sharded(sharding);
  }

  private static List<StageLayers> all(int layers) {
    return List.of(StageLayers.keeping(0, layers - 1));
  }

  private static RunPrediction runPrediction(
      StageCosts costs, ZeroStage sharding, int replicas, int microBatches) {
    Schedule schedule = OneForwardOneBackward.of(1, microBatches);
    return new RunPrediction(costs, assignment(schedule, all(costs.size()), sharding, replicas));
  }

  /** Without computing, a step takes as long as what is told in it (ZeRO, §7: Ψ and Ψ; 3 Ψ). */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 5})
  void aStepThatComputesNothingTakesItsVolume(int replicas) {
    StageCosts costs = costs(new int[] {30, 60, 90}, new LayerTimes(0, 0, 0, 0), 10, 1, NO_MEMORY);
    double once = 180.0 / 10 * (replicas - 1) / replicas;
    for (int microBatches = 1; microBatches <= 3; microBatches++) {
      int[] volumes = {2, 2, microBatches + 1, 3 * microBatches};
      for (ZeroStage sharding : ZeroStage.values()) {
        RunPrediction expected = runPrediction(costs, sharding, replicas, microBatches);
        double wanted = volumes[sharding.level()] * once;
        assertEquals(wanted, expected.longestPath().makespan(), 1e-6, sharding.name());
        assertEquals(wanted, expected.simulatedStepSeconds(), 1e-6, sharding.name());
      }
    }
  }

  /** A worker alone waits for none, whatever rounding leaves of its times. */
  @RepeatedTest(20)
  void noOpTakesLessThanNoTime(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    LayerTimes times = new LayerTimes(random.nextDouble(), random.nextDouble(), 0, 0);
    StageCosts costs = costs(new int[] {30, 60, 90}, times, 10, 1, NO_MEMORY);
    for (ZeroStage sharding : ZeroStage.values()) {
      double[] found = seconds(runPrediction(costs, sharding, 1, 1));
      assertArrayEquals(
          new double[] {3 * times.forward(), 3 * times.backward(), 0, 0}, found, ROUNDING);
    }
  }

  private static double[] seconds(RunPrediction runPrediction) {
    OpTimes times = runPrediction.times();
    return new double[] {
      times.forward()[0],
      times.input()[0] + times.weight()[0],
      times.step().reduce()[0],
      times.step().update()[0]
    };
  }

  /**
   * Each layer's parameters come in half a second, and its sum takes as long: the first comes when
   * it is needed, others while the layer before computes; the last sum is under way at the end.
   */
  @Test
  void parametersComeWhileTheLayerBeforeComputes() {
    StageCosts fast = costs(new int[] {30, 30, 30}, EACH, 30, 1, NO_MEMORY);
    double update = 3 * 4 / 2.0;
    assertArray(0.5 + 3, 0.5 + 6, 0.5, update, runPrediction(fast, ZeroStage.PARAMETERS, 2, 1));
    assertArray(3, 6, 0.5, update + 1.5, runPrediction(fast, ZeroStage.GRADIENTS, 2, 1));
    assertArray(3, 6, 0.5, update + 1.5, runPrediction(fast, ZeroStage.OPTIMIZER, 2, 1));
  }

  /**
   * With three seconds for each: g₀ 0–3, g₁ 3–6 beside the first layer, g₂ 6–9 beside the second.
   * Back: g₂ 0–3, g₁ 3–6, the sum of 2 from 6 on, but that of 1 asks first, at 6, for g₀: 6–9, so
   * sums run 9–12 … as below.
   */
  @Test
  void slowLinksAreWaitedFor() {
    StageCosts slow = costs(new int[] {30, 30, 30}, EACH, 5, 1, NO_MEMORY);
    double update = 3 * 4 / 2.0;
    // layer 2: 3–5, its sum 6–9 behind g₁; layer 1: 6–8, asks for g₀: 9–12; at 9 its sum: 12–15;
    // layer 0: 12–14, at 15 its sum: 15–18
    assertArray(10, 15, 3, update, runPrediction(slow, ZeroStage.PARAMETERS, 2, 1));
    // layers end at 2, 4 → 5, 7 → 8; sums 2–5, 5–8, 8–11
    assertArray(3, 8, 3, update + 9, runPrediction(slow, ZeroStage.GRADIENTS, 2, 1));
    // the same behind the last pass, which is as long as others
    assertArray(3, 6, 5, update + 9, runPrediction(slow, ZeroStage.OPTIMIZER, 2, 1));
  }

  /** Half of what computing hides is lost to it. */
  @Test
  void whatComputingHidesSlowsIt() {
    StageCosts fast = costs(new int[] {30, 30, 30}, EACH, 30, 0.5, NO_MEMORY);
    // of 4.5 s of exchanges 1.5 are waited for; each pass and each sum has a third of them
    double lost = 0.5 * 3;
    double update = 3 * 4 / 2.0;
    double forward = 3.5 + lost / 3;
    assertArray(
        forward, 6.5 + 2 * lost / 3, 0.5, update, runPrediction(fast, ZeroStage.PARAMETERS, 2, 1));
    // of the sums 1 s is hidden; that of the last pass counts behind it
    assertArray(3, 6, 0.5 + 0.5, update + 1.5, runPrediction(fast, ZeroStage.OPTIMIZER, 2, 1));
  }

  private static void assertArray(
      double forward, double backward, double reduce, double update, RunPrediction runPrediction) {
    double[] found = seconds(runPrediction);
    double[] wanted = {forward, backward, reduce, update};
    for (int i = 0; i < wanted.length; i++) {
      assertEquals(wanted[i], found[i], ROUNDING, Arrays.toString(found));
    }
  }

  /** Parameters are got once more where the backward pass comes in two parts. */
  @Test
  void bothPartsOfABackwardPassNeedParameters() {
    StageCosts costs = costs(new int[] {30, 30}, new LayerTimes(0, 0, 0, 0), 30, 1, NO_MEMORY);
    Schedule schedule = ZeroBubbleH1.of(1, 1);
    RunPrediction runPrediction =
        new RunPrediction(costs, assignment(schedule, all(2), ZeroStage.PARAMETERS, 2));
    OpTimes times = runPrediction.times();
    assertEquals(1, times.forward()[0], ROUNDING);
    assertEquals(1, times.input()[0], ROUNDING);
    assertEquals(
        4,
        times.forward()[0] + times.input()[0] + times.weight()[0] + times.step().reduce()[0],
        ROUNDING);
  }

  private static double peak(ZeroStage sharding, int microBatches, int... parameters) {
    StageCosts costs = costs(parameters, EACH, 1, 1, NO_MEMORY);
    return runPrediction(costs, sharding, 2, microBatches).peakBytes()[0] / MIB;
  }

  /**
   * Segments of 30, 26 and 40, momentum, nothing else. What counts is beside parameters (96, or
   * half) and half of the moments (48).
   */
  @Test
  void oneMicroBatchLeavesGradientsOfTwoSegments() {
    // Behind the pass of the second: its 26, and of the third 40, what came (20) and its sum (20).
    double two = 26 + 40 + 20 + 20;
    assertEquals(96 + 48 + two, peak(ZeroStage.GRADIENTS, 1, 30, 26, 40), ROUNDING);
    assertEquals(96 + 48 + two, peak(ZeroStage.OPTIMIZER, 1, 30, 26, 40), ROUNDING);
    // The first's parameters have come by then.
    assertEquals(48 + 48 + two + 30, peak(ZeroStage.PARAMETERS, 1, 30, 26, 40), ROUNDING);
  }

  @Test
  void furtherMicroBatchesFindTheSumsOfEarlierOnes() {
    // Behind the last pass: all sums (48), and of the first 30, what came and its sum; while the
    // second is left, 26 beside 40 and its two halves.
    double sums = 48;
    assertEquals(
        96 + 48 + sums + Math.max(2 * 30, 26 + 2 * 40),
        peak(ZeroStage.GRADIENTS, 3, 30, 26, 40),
        ROUNDING);
    // Or all gradients of the passes before, until the last pass has left their segment.
    assertEquals(
        96 + 48 + Math.max(96 + 40, 30 + 26 + 2 * 40),
        peak(ZeroStage.OPTIMIZER, 3, 30, 26, 40),
        ROUNDING);
  }

  /** A stage that one worker holds shares nothing out, whatever others do. */
  @Test
  void whoIsAloneHoldsAll() {
    StageCosts costs = costs(new int[] {30, 26, 40}, EACH, 1, 1, NO_MEMORY);
    List<StageLayers> stages =
        IntStream.range(0, 3).mapToObj(layer -> StageLayers.keeping(layer, layer)).toList();
    Schedule schedule = OneForwardOneBackward.of(3, 3);
    Assignment mixed =
        new Assignment(schedule, stages, List.of(1, 2, 1), 6, true).sharded(ZeroStage.PARAMETERS);
    double[] peaks = new RunPrediction(costs, mixed).peakBytes();
    assertEquals(3 * 30, peaks[0] / MIB, ROUNDING);
    assertEquals(3 * 40, peaks[2] / MIB, ROUNDING);
    assertTrue(peaks[1] / MIB < 13 + 13 + 13 + 3 * 26 + 1);
  }
}
