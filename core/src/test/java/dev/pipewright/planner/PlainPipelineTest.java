package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.PlainPipeline.Cut;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PlainPipelineTest {
  private static final double[] SECONDS = {1, 1, 1, 4, 4, 4};
  private static final double[] PARAMETERS = {9e6, 1e6, 1e6, 1e6, 1e6, 1e6};

  private static StageCosts costs(int devices, long memory) {
    List<LayerSizes> sizes = new ArrayList<>();
    List<LayerTimes> times = new ArrayList<>();
    for (int i = 0; i < SECONDS.length; i++) {
      sizes.add(new LayerSizes(1e6, 1e6, PARAMETERS[i]));
      times.add(new LayerTimes(SECONDS[i] / 3, 2 * SECONDS[i] / 3, Double.NaN, 0));
    }
    Profile profile =
        new Profile(
            new Provenance("test", "k", "", false),
            Precision.FP32,
            sizes,
            List.of(1),
            List.of(times));
    Cluster cluster =
        Samples.plain(List.of(Link.of(0, 1e9)), devices).withMemory(new Bytes(memory));
    Training training = new Training(Optimizer.SGD, Precision.FP32);
    return new StageCosts(
        new Workload(Chain.of(Samples.chain(SECONDS.length)), profile, training, cluster));
  }

  private static List<Integer> firsts(Cut cut, int devices) {
    return new PlainPipeline(cut, costs(devices, 1L << 40), 8)
        .stages().stream().map(StagePlan::firstLayer).toList();
  }

  @Test
  void eachRuleCutsByWhatItGoesBy() {
    assertEquals(List.of(0, 2, 4), firsts(Cut.UNIFORM_LAYERS, 3));
    List<Integer> byParameters = firsts(Cut.UNIFORM_PARAMETERS, 2);
    assertEquals(List.of(0, 1), byParameters); // 9 against 5
    assertEquals(List.of(0, 4), firsts(Cut.TORCHGPIPE, 2)); // 7 against 8 seconds, not 3 against 12
  }

  @Test
  void allDevicesAreUsedOneForEachStage() {
    for (Cut cut : Cut.values()) {
      PlainPipeline plain = new PlainPipeline(cut, costs(4, 1L << 40), 8);
      assertEquals(1, plain.copies());
      assertEquals(
          IntStream.range(0, 4).mapToObj(List::of).toList(),
          plain.stages().stream().map(StagePlan::devices).toList());
    }
  }

  @Test
  void moreDevicesThanLayersMakeCopies() {
    PlainPipeline plain = new PlainPipeline(Cut.UNIFORM_LAYERS, costs(12, 1L << 40), 8);
    assertEquals(2, plain.copies());
    assertEquals(6, plain.stages().size());
    assertEquals(List.of(10, 11), plain.stages().get(5).devices());
    assertEquals(0, new PlainPipeline(Cut.UNIFORM_LAYERS, costs(7, 1L << 40), 8).copies());
  }

  private static Planning plan(StageCosts costs, Request request) {
    Oracle simulator = new SimulatedOracle(CostModel.PIPEWRIGHT.oracle(costs));
    return PlainPipeline.plan(Cut.UNIFORM_LAYERS, costs, request, simulator, () -> false);
  }

  @Test
  void thePlanIsTheFastestMicroBatchThatFits() {
    StageCosts costs = costs(3, 1L << 40);
    Planning planning = plan(costs, Request.of(8));
    assertEquals("uniform-layers", planning.planner());
    assertEquals(8, planning.search().labels()); // 1, 2, 4, 8 under two schedules
    double best = planning.best().orElseThrow().seconds();
    Oracle simulator = new SimulatedOracle(CostModel.PIPEWRIGHT.oracle(costs));
    for (int samples : new int[] {1, 2, 4, 8}) {
      List<StagePlan> stages = planning.best().get().plan().stages();
      double one = simulator.assess(SynchronousPlans.of(costs, stages, 8, samples)).stepSeconds();
      assertTrue(best <= one, samples + ": " + one + " < " + best);
    }
    assertTrue(planning.lowerBound().value() <= best);
    assertTrue(planning.search().exhaustive());
  }

  @Test
  void whatDoesNotFitSaysWhatWould() {
    StageCosts tight = costs(3, 1_000_000);
    Request request = Request.of(8);
    assertTrue(plan(tight, request).best().isEmpty());
    String sentence = PlainPipeline.sentence(Cut.UNIFORM_LAYERS, tight, request);
    // 10 MB of weights, their gradients, two layers' activations
    assertEquals(
        "cut by this rule, a device of the fullest stage has to hold 21.0 MiB; take such devices, or"
            + " another planner",
        sentence);
    assertTrue(plan(costs(3, 22_020_097), request).best().isPresent()); // 21 MiB
    StageCosts odd = costs(7, 1L << 40);
    assertTrue(plan(odd, request).best().isEmpty());
    assertEquals(
        "no number of equal pipelines uses all 7 devices for 8 samples; take a global batch that 7"
            + " divides",
        PlainPipeline.sentence(Cut.UNIFORM_LAYERS, odd, request));
  }
}
