package dev.pipewright.planner.pipedream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.planner.pipedream.PipeDreamPlanning.RunnerUp;
import dev.pipewright.planner.pipedream.PipeDreamPlanning.Stage;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class PipeDreamOptimizerTest {
  /** A network, its devices and whether transfers are charged. */
  private record Instance(Networks network, List<BandwidthLevel> levels, boolean charged) {
    static Instance of(RepetitionInfo seed) {
      var random = new SplittableRandom(seed.getCurrentRepetition());
      boolean branches = random.nextInt(3) > 0;
      Networks network = Networks.random(random, branches ? 9 : 16, branches);
      int count = random.nextInt(1, 4);
      return new Instance(network, Networks.levels(random, count, 6 - count), random.nextBoolean());
    }

    double[] recursion() {
      return NaiveRecursion.seconds(
          network.chain(),
          network.seconds(),
          network.parameters(),
          network.outputs(),
          levels,
          charged);
    }

    PipeDreamPlanning plan(java.util.function.BooleanSupplier stop) {
      return PipeDreamOptimizer.plan(network.costs(), levels, charged, stop);
    }

    PipeDreamPlanning plan() {
      return plan(() -> false);
    }

    int devices() {
      return levels.stream().mapToInt(BandwidthLevel::units).reduce(1, (a, b) -> a * b);
    }
  }

  private static void close(double expected, double found) {
    assertEquals(expected, found, 1e-11 * expected + 1e-14);
  }

  @RepeatedTest(300)
  void findsWhatTheRecursionFindsAndItsRunnerUp(RepetitionInfo seed) {
    Instance instance = Instance.of(seed);
    double[] byLast = instance.recursion();
    double least = Arrays.stream(byLast).min().orElseThrow();
    PipeDreamPlanning planning = instance.plan();
    close(least, planning.seconds());
    assertTrue(planning.complete());
    assertEquals(0, planning.gap());
    int inner = instance.devices() / (byLast.length - 1);
    int chosen = outermostUnitsOfTheLastStage(instance, planning);
    byLast[chosen] = Double.POSITIVE_INFINITY;
    double second = Arrays.stream(byLast).min().orElseThrow();
    assertEquals(second < Double.POSITIVE_INFINITY, planning.runnerUp().isPresent());
    if (planning.runnerUp().isPresent()) {
      RunnerUp rival = planning.runnerUp().get();
      close(second, rival.seconds());
      close(second, byLast[rival.lastStageDevices() / inner]);
    }
  }

  private static int outermostUnitsOfTheLastStage(Instance instance, PipeDreamPlanning planning) {
    List<Integer> replicas = planning.stages().get(planning.stages().size() - 1).replicas();
    return replicas.get(instance.levels().size() - 1);
  }

  @RepeatedTest(200)
  void thePlanTakesWhatItSaysOnAllDevices(RepetitionInfo seed) {
    Instance instance = Instance.of(seed);
    PipeDreamPlanning planning = instance.plan();
    close(
        new Rescored(instance.network, instance.levels, instance.charged).seconds(planning),
        planning.seconds());
    checkStages(instance, planning);
    assertTrue(
        planning.binding().contains(" of " + Units.seconds(planning.seconds())),
        planning.binding());
  }

  private static void checkStages(Instance instance, PipeDreamPlanning planning) {
    TreeSet<Integer> devices = new TreeSet<>();
    int next = 0;
    int left = instance.devices();
    for (Stage stage : planning.stages()) {
      assertEquals(next, stage.firstLayer());
      assertTrue(instance.network.costs().follows(next, stage.lastLayer() + 1));
      int count = stage.devices().size();
      assertEquals(count, stage.replicas().stream().reduce(1, (a, b) -> a * b));
      assertEquals((left + count - 1) / count, stage.inFlight());
      assertTrue(stage.seconds() <= planning.seconds() * (1 + 1e-9) + 1e-14);
      stage.devices().forEach(device -> assertTrue(devices.add(device)));
      left -= count;
      next = stage.lastLayer() + 1;
    }
    assertEquals(instance.network.chain().size(), next);
    assertEquals(IntStream.range(0, instance.devices()).boxed().toList(), List.copyOf(devices));
    assertEquals(planning.stages().get(0).inFlight(), planning.inFlight());
  }

  @RepeatedTest(200)
  void plansOfExactlySoManyStagesAreTheBestOfThem(RepetitionInfo seed) {
    Instance instance = Instance.of(seed);
    double[] best = NaiveRecursion.byStages(instance.network, instance.levels, instance.charged);
    for (int stages = 1; stages < best.length; stages++) {
      Optional<PipeDreamPlanning> found =
          PipeDreamOptimizer.plan(
              instance.network.costs(), instance.levels, instance.charged, stages, () -> false);
      assertEquals(best[stages] < Double.POSITIVE_INFINITY, found.isPresent());
      if (found.isPresent()) {
        PipeDreamPlanning planning = found.get();
        assertEquals(stages, planning.stages().size());
        close(best[stages], planning.seconds());
        close(
            new Rescored(instance.network, instance.levels, instance.charged).seconds(planning),
            planning.seconds());
        checkStages(instance, planning);
      }
    }
    close(instance.plan().seconds(), Arrays.stream(best).skip(1).min().orElseThrow());
  }

  @RepeatedTest(200)
  void noPlanGoesBelowTheBound(RepetitionInfo seed) {
    Instance instance = Instance.of(seed);
    double least = Arrays.stream(instance.recursion()).min().orElseThrow();
    double bound = instance.plan().lowerBound().value();
    assertTrue(bound <= least * (1 + 1e-9) + 1e-14, bound + " > " + least);
  }

  @RepeatedTest(100)
  void aStoppedSearchKeepsTheBestOfWhereItHasBeen(RepetitionInfo seed) {
    Instance instance = Instance.of(seed);
    double least = instance.plan().seconds();
    int[] asked = {0};
    int patience = seed.getCurrentRepetition() % 7;
    PipeDreamPlanning stopped = instance.plan(() -> asked[0]++ >= patience);
    close(
        new Rescored(instance.network, instance.levels, instance.charged).seconds(stopped),
        stopped.seconds());
    checkStages(instance, stopped);
    assertTrue(stopped.seconds() >= least * (1 - 1e-12));
    assertTrue(stopped.seconds() <= stopped.dataParallelSeconds() * (1 + 1e-12));
    assertEquals(asked[0] <= patience, stopped.complete());
    if (!stopped.complete()) {
      close(stopped.lowerBound().value() * (1 + stopped.gap()), stopped.seconds());
    }
  }

  private static Networks chain(double[] seconds, double[] parameters, double[] outputs) {
    List<Edge> edges = new ArrayList<>();
    for (int i = 1; i < seconds.length; i++) {
      edges.add(new Edge(i - 1, i));
    }
    Chain chain = Chain.of(Networks.graph(seconds.length, edges));
    return new Networks(chain, seconds, parameters, outputs);
  }

  /** Six seconds without weights in front of two with so many that replicas do not pay. */
  private static Networks frontHeavy() {
    return chain(
        new double[] {2, 2, 2, 2}, new double[] {0, 0, 0, 1e12}, new double[] {1, 1, 1, 1});
  }

  @Test
  void layersWithoutWeightsAreReplicatedAndTheRestIsNot() {
    PipeDreamPlanning planning =
        PipeDreamOptimizer.plan(
            frontHeavy().costs(), List.of(new BandwidthLevel(4, 1e9)), true, () -> false);
    assertEquals(2, planning.seconds());
    assertEquals(
        List.of(
            new Stage(0, 2, List.of(3), List.of(0, 1, 2), 6, 2, 2),
            new Stage(3, 3, List.of(1), List.of(3), 2, 2, 1)),
        planning.stages());
    assertEquals(2, planning.inFlight());
    assertEquals(8, planning.singleDeviceSeconds());
    assertEquals(4, planning.speedup());
    assertEquals((8 + 4 * 0.75 * 1e12 / 1e9) / 4, planning.dataParallelSeconds());
    assertEquals(2, planning.lowerBound().value());
    assertEquals("work / devices", planning.lowerBound().why());
    assertEquals(
        "compute: layers 0–2 on 3 devices compute 2.00 s of 2.00 s (100.0 %)", planning.binding());
  }

  @Test
  void everyMachineOfAStageRunsTheSameInnerPipeline() {
    Networks network =
        chain(
            new double[] {3, 1},
            new double[] {0, 1e6},
            new double[] {0, 0}); // 3 + 1 devices inside
    PipeDreamPlanning planning =
        PipeDreamOptimizer.plan(
            network.costs(),
            List.of(new BandwidthLevel(4, 1), new BandwidthLevel(2, 1e9)),
            true,
            () -> false);
    assertEquals(List.of(0, 1, 2, 4, 5, 6), planning.stages().get(0).devices());
    assertEquals(List.of(3, 7), planning.stages().get(1).devices());
    assertEquals(List.of(3, 2), planning.stages().get(0).replicas());
    double exchange = 4 * 0.5 * 1e6 / 1e9 / 4;
    assertEquals((1 + exchange) / 2, planning.seconds(), 1e-12);
    assertEquals(0.5 + exchange / 2, planning.stages().get(1).seconds(), 1e-12);
    assertEquals(2, planning.inFlight());
  }

  @Test
  void activationsAreChargedOnlyWhereAsked() {
    Networks network =
        chain(new double[] {1, 1}, new double[] {1e12, 1e12}, new double[] {5e9, 1e15});
    List<BandwidthLevel> two = List.of(new BandwidthLevel(2, 1e9));
    PipeDreamPlanning charged = PipeDreamOptimizer.plan(network.costs(), two, true, () -> false);
    assertEquals(10, charged.seconds()); // there and back over the cut, nothing after the end
    assertEquals(
        "link: the activations behind layer 0 take 10 s of 10 s at 1.00 GB/s, the rate of level 1",
        charged.binding());
    assertEquals(1, PipeDreamOptimizer.plan(network.costs(), two, false, () -> false).seconds());
  }

  @Test
  void aLayerThatGainsNothingFromReplicasBoundsThePlan() {
    Networks network = chain(new double[] {1, 5}, new double[] {0, 1e12}, new double[] {0, 0});
    var bound =
        PipeDreamOptimizer.plan(
                network.costs(), List.of(new BandwidthLevel(3, 1e9)), true, () -> false)
            .lowerBound();
    assertEquals(5, bound.value());
    assertEquals("layer layer-1 alone on any devices", bound.why());
  }

  @Test
  void longNetworksAreRefusedOnSeveralLevelsOnly() {
    int layers = PipeDreamOptimizer.MOST_PLACES + 1;
    double[] ones = new double[layers];
    Arrays.fill(ones, 1);
    CutCosts costs = chain(ones, new double[layers], new double[layers]).costs();
    BandwidthLevel two = new BandwidthLevel(2, 1e9);
    String refusal =
        assertThrows(
                IllegalArgumentException.class,
                () -> PipeDreamOptimizer.plan(costs, List.of(two, two), true, () -> false))
            .getMessage();
    assertEquals(
        "the network can be cut at 5001 places, more than the 5000 that several levels allow;"
            + " merge layers into blocks, or plan for one level",
        refusal);
    PipeDreamPlanning flat = PipeDreamOptimizer.plan(costs, List.of(two), true, () -> false);
    assertEquals(layers / 2.0, flat.seconds(), 1e-9);
    assertFalse(flat.stages().isEmpty());
  }

  @Test
  void levelsAreChecked() {
    CutCosts costs = frontHeavy().costs();
    assertThrows(
        IllegalArgumentException.class,
        () -> PipeDreamOptimizer.plan(costs, List.of(), true, () -> false));
    assertThrows(IllegalArgumentException.class, () -> new BandwidthLevel(0, 1));
    assertThrows(IllegalArgumentException.class, () -> new BandwidthLevel(1, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> CutCosts.of(frontHeavy().chain(), new double[3], new double[4], new double[4]));
  }
}
