package dev.pipewright.predict.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.cluster.Software;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.FixedOrder;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.catalog.ScheduleInput;
import dev.pipewright.schedule.search.OpTimes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The referee of plans is the oracle that planners use; other schedules have no other. */
class RunPredictionTest {
  private static final double ROUNDING = 1e-12;

  private static PipelinePlan plan(SplittableRandom random, StageCosts costs) {
    int devices = costs.workload().cluster().size();
    int count = random.nextInt(1, Math.min(costs.size(), devices) + 1);
    int microBatches = random.nextInt(1, 7);
    PipelinePolicy policy =
        List.of(PipelinePolicy.A, PipelinePolicy.B, PipelinePolicy.ALL).get(random.nextInt(3));
    int[] inFlight = policy.inFlight(count, microBatches);
    List<Integer> shuffled = new ArrayList<>(IntStream.range(0, devices).boxed().toList());
    Collections.shuffle(shuffled, new java.util.Random(random.nextLong()));
    List<StagePlan> stages = new ArrayList<>();
    int first = 0;
    int device = 0;
    for (int s = 0; s < count; s++) {
      int left = count - 1 - s;
      int last = left == 0 ? costs.size() - 1 : random.nextInt(first, costs.size() - left);
      int take = left == 0 ? random.nextInt(1, devices - device + 1) : 1;
      Recompute recompute = random.nextBoolean() ? Recompute.NONE : Recompute.STAGE_INPUT;
      List<Integer> own = shuffled.subList(device, device + take);
      stages.add(new StagePlan(first, last, own, recompute, inFlight[s]));
      first = last + 1;
      device += take;
    }
    int microBatch = random.nextInt(1, 5);
    return new PipelinePlan(policy, microBatches, microBatch, 1, random.nextBoolean(), stages);
  }

  private static List<Integer> devices(PipelinePlan plan) {
    return plan.stages().stream().map(StagePlan::devices).flatMap(List::stream).toList();
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void aPlansAssignmentIsExpectedToTakeWhatTheOracleSays(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 7)), 8);
    PipelinePlan plan = plan(random, costs);
    RunPrediction runPrediction = new RunPrediction(costs, Assignment.of(plan), devices(plan));
    Assessment priced = CostModel.PIPEWRIGHT.oracle(costs).assess(plan);
    double simulated = SimulatedOracle.run(plan, priced).makespan();
    assertEquals(simulated, runPrediction.simulate().makespan(), ROUNDING * simulated);
    assertEquals(
        priced.stepSeconds(),
        runPrediction.predictedStepSeconds(),
        ROUNDING * priced.stepSeconds());
    double[] peaks =
        priced.stages().stream().mapToDouble(stage -> stage.memory().peakBytes()).toArray();
    assertArrayEquals(peaks, runPrediction.peakBytes(), ROUNDING * priced.peakBytes());
  }

  static Stream<String> pipelines() {
    return ScheduleCatalog.entries().stream()
        .filter(entry -> entry.isSynchronousPipeline() && !entry.needsDurations())
        .map(ScheduleEntry::name);
  }

  /** A plan of four ranks, most of them of one device. */
  private static PipelinePlan plan(SplittableRandom random, ScheduleEntry entry, int layers) {
    Schedule made = entry.make(ScheduleInput.counts(4, 8, entry.chunks()));
    FixedOrder order = FixedOrder.of(made);
    int[] inFlight = order.inFlight(order.stages(), 8);
    int wide = random.nextInt(4);
    List<StagePlan> stages = new ArrayList<>();
    for (int stage = 0; stage < order.stages(); stage++) {
      int rank = made.placement().rankOf(stage);
      int device = rank < wide ? rank : rank + 1;
      int last = stage == order.stages() - 1 ? layers - 1 : stage;
      stages.add(
          new StagePlan(
              stage,
              last,
              rank == wide ? List.of(rank, rank + 1) : List.of(device),
              random.nextBoolean() ? Recompute.NONE : Recompute.STAGE_INPUT,
              inFlight[stage]));
    }
    return new PipelinePlan(order, 8, random.nextInt(2, 5), 1, random.nextBoolean(), stages);
  }

  @ParameterizedTest
  @MethodSource("pipelines")
  void plansOfTheCatalogueTakeAndHoldWhatTheirAssignmentsDo(String name) {
    ScheduleEntry entry = ScheduleCatalog.find(name).orElseThrow();
    for (int seed = 0; seed < 20; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      StageCosts any = Samples.costs(random, Samples.chain(10), 8);
      Workload of = any.workload();
      Cluster cluster = Samples.plain(List.of(Link.of(2, 1e6)), 5);
      StageCosts costs =
          new StageCosts(new Workload(of.chain(), of.profile(), of.training(), cluster));
      PipelinePlan plan = plan(random, entry, costs.size());
      List<Integer> devices = plan.devicesByRank().stream().flatMap(List::stream).toList();
      RunPrediction prediction = new RunPrediction(costs, Assignment.of(plan), devices);
      Assessment priced = CostModel.PIPEWRIGHT.oracle(costs).assess(plan);
      double step = prediction.longestPath().makespan();
      assertEquals(step, priced.stepSeconds(), ROUNDING * step, name);
      double simulated = prediction.simulate().makespan();
      assertEquals(
          simulated, SimulatedOracle.run(plan, priced).makespan(), ROUNDING * simulated, name);
      double[] peaks = prediction.peakBytes();
      Placement placement = plan.placement();
      for (int stage = 0; stage < placement.stages(); stage++) {
        double peak = priced.memory().get(stage % placement.depth()).peakBytes();
        assertTrue(peaks[placement.rankOf(stage)] <= peak * (1 + ROUNDING), name);
        if (placement.chains() == 1) {
          assertEquals(peaks[placement.rankOf(stage)], peak, ROUNDING * peak, name);
        }
      }
    }
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void aPlanIsFoundAgainInItsAssignment(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 7)), 8);
    PipelinePlan plan = plan(random, costs);
    PipelinePlan found = Assignment.of(plan).asPlan(devices(plan)).orElseThrow();
    assertEquals(plan.stages(), found.stages());
    assertEquals(plan.globalBatch(), found.globalBatch());
    for (int rank = 0; rank < plan.stages().size(); rank++) {
      assertArrayEquals(plan.schedule().packed(rank), found.schedule().packed(rank));
    }
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void aStepAmongOthersTakesNoLongerThanOneAlone(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 7)), 8);
    PipelinePlan plan = plan(random, costs);
    RunPrediction runPrediction = new RunPrediction(costs, Assignment.of(plan), devices(plan));
    double alone = runPrediction.simulate().makespan();
    assertTrue(runPrediction.simulatedStepSeconds() <= alone * (1 + ROUNDING));
    double busiest =
        IntStream.range(0, plan.stages().size())
            .mapToDouble(runPrediction.simulate()::busy)
            .max()
            .orElseThrow();
    assertTrue(runPrediction.simulatedStepSeconds() >= busiest * (1 - ROUNDING));
  }

  @Test
  void messagesTakeFromPassesAtBothEndsButNotFromWhatIsComputedAgain() {
    StageCosts costs = Samples.costs(new SplittableRandom(1), Samples.chain(3), 8);
    OpTimes before = threeStages(costs, MessageOverhead.NONE);
    OpTimes after = threeStages(costs, new MessageOverhead(0.5, 0));
    double[] ends = {0.5, 1, 0.5}; // the one in the middle has two neighbours
    for (int stage = 0; stage < 3; stage++) {
      assertEquals(before.forward()[stage] + ends[stage], after.forward()[stage], 1e-9);
      assertEquals(before.input()[stage] + ends[stage], after.input()[stage], 1e-9);
      assertEquals(Math.max(0, before.there()[stage] - 1), after.there()[stage], 1e-9);
      assertEquals(Math.max(0, before.back()[stage] - 1), after.back()[stage], 1e-9);
    }
    assertArrayEquals(before.weight(), after.weight());
    assertArrayEquals(before.recompute(), after.recompute());
  }

  /** On three equal devices. */
  private static OpTimes threeStages(StageCosts costs, MessageOverhead overhead) {
    Workload of = costs.workload();
    Cluster cluster =
        Samples.plain(List.of(Link.of(2, 1e6)), 3)
            .withSoftware(Software.IDEAL.withMessage(overhead));
    List<StagePlan> stages =
        IntStream.range(0, 3)
            .mapToObj(s -> new StagePlan(s, s, List.of(s), Recompute.NONE, 3 - s))
            .toList();
    PipelinePlan plan = new PipelinePlan(PipelinePolicy.A, 4, 2, 1, false, stages);
    StageCosts on = new StageCosts(new Workload(of.chain(), of.profile(), of.training(), cluster));
    return new RunPrediction(on, Assignment.of(plan), devices(plan)).times();
  }

  /**
   * Of the two stages that each worker holds, one is done before the other's last backward pass.
   */
  @ParameterizedTest
  @ValueSource(doubles = {0, 0.25, 1})
  void sumsTakeFromThePassesOfOtherStagesWhatTheseDoNotHide(double overlap) {
    StageCosts costs = Samples.costs(new SplittableRandom(1), Samples.chain(2), 8);
    OpTimes hidden = chimera(costs, 1);
    OpTimes times = chimera(costs, overlap);
    double[] sums = hidden.step().reduce();
    double[] passes = new double[2];
    Arrays.setAll(passes, stage -> hidden.input()[stage] + hidden.weight()[stage]);
    assertTrue(Arrays.stream(sums).min().orElseThrow() > 0);
    assertArrayEquals(hidden.forward(), times.forward());
    assertArrayEquals(hidden.input(), times.input());
    long[] program = Chimera.of(2, 2).packed(0);
    int[] order =
        Arrays.stream(program)
            .filter(op -> Schedule.pass(op) == Pass.BACKWARD)
            .mapToInt(Schedule::stage)
            .toArray();
    assertEquals(2, order.length);
    double beside = Math.min(sums[order[0]], passes[order[1] % 2]);
    assertEquals(sums[order[1]] + (1 - overlap) * beside, times.step().reduce()[order[1]], 1e-9);
  }

  /** A pair of micro-batches between two equal devices. */
  private static OpTimes chimera(StageCosts costs, double overlap) {
    Workload of = costs.workload();
    Cluster cluster =
        Samples.plain(List.of(Link.of(2, 1e6)), 2)
            .withSoftware(Software.IDEAL.withOverlap(overlap));
    StageCosts on = new StageCosts(new Workload(of.chain(), of.profile(), of.training(), cluster));
    List<StageLayers> halves = List.of(StageLayers.keeping(0, 0), StageLayers.keeping(1, 1));
    return new RunPrediction(
            on, new Assignment(Chimera.of(2, 2), halves, List.of(1, 1), 8, false), List.of(0, 1))
        .times();
  }

  @Test
  void schedulesOfNoPlanAreExpectedToTakeTheirLongestPath() {
    StageCosts costs = Samples.costs(new SplittableRandom(5), Samples.chain(4), 8);
    List<StageLayers> halves = List.of(StageLayers.keeping(0, 1), StageLayers.keeping(2, 3));
    List<Integer> two = List.of(1, 1);
    for (var schedule : List.of(ZeroBubbleH1.of(2, 4), Chimera.of(2, 4))) {
      Assignment assignment = new Assignment(schedule, halves, two, 8, false);
      assertTrue(assignment.asPlan(List.of(0, 1)).isEmpty());
      RunPrediction runPrediction = new RunPrediction(costs, assignment);
      assertEquals(runPrediction.longestPath().makespan(), runPrediction.predictedStepSeconds());
    }
  }

  @Test
  void aClusterWithFewerDevicesThanWorkersIsRefused() {
    StageCosts costs = Samples.costs(new SplittableRandom(5), Samples.chain(4), 8);
    int devices = costs.workload().cluster().size();
    Assignment assignment =
        new Assignment(
            ZeroBubbleH1.of(1, 4),
            List.of(StageLayers.keeping(0, 3)),
            List.of(devices + 1),
            8,
            false);
    assertThrows(IllegalArgumentException.class, () -> new RunPrediction(costs, assignment));
  }
}
