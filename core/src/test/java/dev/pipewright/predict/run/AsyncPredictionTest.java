package dev.pipewright.predict.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.Software;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.SteadyState;
import dev.pipewright.cost.Workload;
import dev.pipewright.execution.MeasuredRun;
import dev.pipewright.execution.RecordedStep;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.schedule.periodic.RepeatedOp;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Run;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Steps that flow into one another: seconds against the slots of the papers and against the
 * planners' steady state, bytes by hand.
 */
class AsyncPredictionTest {
  private static final double ROUNDING = 1e-9;

  /** Layers of one second forward and two backward that nothing is sent between. */
  private static StageCosts costs(
      int layers, double parameters, LayerTimes each, double kept, double working) {
    return costs(
        Collections.nCopies(layers, each),
        new LayerSizes(0, kept, parameters),
        new LayerMemory(working, 0, 0));
  }

  private static StageCosts costs(List<LayerTimes> times, LayerSizes sizes, LayerMemory memory) {
    int layers = times.size();
    Profile profile =
        new Profile(
            new Provenance("by hand", "k", "", true),
            Precision.FP32,
            Collections.nCopies(layers, sizes),
            List.of(1),
            List.of(times),
            List.of(Collections.nCopies(layers, memory)));
    Cluster cluster = Samples.plain(List.of(Link.of(0, 1000)), 16);
    var training = new Training(Optimizer.MOMENTUM, Precision.FP32);
    Chain chain = Chain.of(Samples.chain(layers));
    return new StageCosts(new Workload(chain, profile, training, cluster));
  }

  private static final LayerTimes SLOT = new LayerTimes(1, 1, 0, 0);

  private static RunPrediction runPrediction(StageCosts costs, AsyncPipeline asyncPipeline) {
    List<StageLayers> stages =
        IntStream.range(0, asyncPipeline.stages())
            .mapToObj(i -> StageLayers.keeping(i, i))
            .toList();
    int ranks = asyncPipeline.schedule(asyncPipeline.round()).ranks();
    List<Integer> workers = Collections.nCopies(ranks, 1);
    return new RunPrediction(
        costs, Assignment.of(asyncPipeline, stages, workers, asyncPipeline.microBatches()));
  }

  /** A training step has 2N slots, on one device all passes one after the other. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void cyclicStepsTakeTheirSlots(int workers) {
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      for (Cyclic.Form form : Cyclic.Form.values()) {
        AsyncPipeline asyncPipeline =
            new AsyncPipeline.CyclicDataParallel(new Cyclic(workers), form, rule);
        double slots = form == Cyclic.Form.SINGLE ? 2.0 * workers * workers : 2.0 * workers;
        RunPrediction runPrediction = runPrediction(costs(workers, 0, SLOT, 0, 0), asyncPipeline);
        assertEquals(slots, runPrediction.simulatedStepSeconds(), ROUNDING, asyncPipeline.name());
        assertEquals(slots, runPrediction.predictedStepSeconds(), ROUNDING, asyncPipeline.name());
      }
    }
  }

  private static AsynchronousPlan plan(Rule rule, int microBatches, List<Integer> replicas) {
    List<StagePlan> bare = new ArrayList<>();
    int device = 0;
    for (int stage = 0; stage < replicas.size(); stage++) {
      int first = device;
      device += replicas.get(stage);
      List<Integer> own = IntStream.range(first, device).boxed().toList();
      bare.add(new StagePlan(stage, stage, own, Recompute.NONE, 1));
    }
    int[] inFlight = AsynchronousPlan.inFlight(rule, bare);
    List<StagePlan> stages = new ArrayList<>();
    for (int stage = 0; stage < bare.size(); stage++) {
      List<Integer> devices = bare.get(stage).devices();
      stages.add(new StagePlan(stage, stage, devices, Recompute.NONE, inFlight[stage]));
    }
    int count = rule == Rule.PIPEDREAM ? inFlight[0] : microBatches;
    return new AsynchronousPlan(rule, count, 1, 1, stages);
  }

  /** Nothing beside the passes takes any time here, as in the planners' model. */
  @RepeatedTest(value = 40, name = "seed {currentRepetition}")
  void runAsFastAsThePlannersSteadyState(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int depth = random.nextInt(2, 5);
    List<LayerTimes> times = new ArrayList<>();
    for (int layer = 0; layer < depth; layer++) {
      double forward = random.nextDouble(0.5, 2);
      times.add(new LayerTimes(forward, forward * random.nextDouble(1, 3), 0, 0.25));
    }
    StageCosts costs = costs(times, new LayerSizes(40, 0, 0), new LayerMemory(0, 0, 0));
    boolean pipeDream = random.nextBoolean();
    List<Integer> replicas = new ArrayList<>(Collections.nCopies(depth, 1));
    if (pipeDream) {
      replicas.set(0, random.nextInt(1, 3));
    }
    int microBatches = depth + random.nextInt(3);
    Rule rule = pipeDream ? Rule.PIPEDREAM : Rule.TWO_BUFFERS;
    AsynchronousPlan plan = plan(rule, microBatches, replicas);
    AsyncPipeline asyncPipeline =
        pipeDream
            ? new AsyncPipeline.PipeDream(replicas, false)
            : new AsyncPipeline.DoubleBuffered(depth, microBatches, false);
    double steady = SteadyState.of(plan, costs, Conditions.PLAIN).seconds();
    assertEquals(steady, runPrediction(costs, asyncPipeline).predictedStepSeconds(), 0.02 * steady);
  }

  /** Stages of a rank in turn, a micro-batch every period. */
  @Test
  void patternsTakeTheirPeriod() {
    List<RepeatedOp> ops = new ArrayList<>();
    for (int stage = 0; stage < 4; stage++) {
      ops.add(RepeatedOp.at(Pass.FORWARD, stage, 0, stage, 4, 1));
      ops.add(RepeatedOp.at(Pass.BACKWARD, stage, 0, 7 - stage, 4, 1));
    }
    AsyncPipeline.Repeated asyncPipeline =
        AsyncPipeline.Repeated.of(List.of(0, 1, 0, 1), 4, 1, ops);
    assertEquals(2, asyncPipeline.microBatches());
    RunPrediction runPrediction = runPrediction(costs(4, 0, SLOT, 0, 0), asyncPipeline);
    assertEquals(2 * 4, runPrediction.simulatedStepSeconds(), ROUNDING);
    assertEquals(2 * 4, runPrediction.predictedStepSeconds(), ROUNDING);
    // Of each of two stages two versions, moments and a sum.
    double[] peaks = runPrediction(costs(4, 1000, SLOT, 0, 0), asyncPipeline).peakBytes();
    assertArrayEquals(new double[] {8000, 8000}, peaks, ROUNDING);
  }

  /**
   * The newest parameters and their moments, older versions, a sum of gradients: of 1000 bytes
   * each. Nothing else is held.
   */
  @Test
  void pipelinesHoldTheirVersions() {
    StageCosts costs = costs(3, 1000, SLOT, 0, 0);
    List<Integer> one = List.of(1, 1, 1);
    double[] stashed = runPrediction(costs, new AsyncPipeline.PipeDream(one, false)).peakBytes();
    assertArrayEquals(new double[] {5000, 4000, 3000}, stashed, ROUNDING);
    double[] vertical = runPrediction(costs, new AsyncPipeline.PipeDream(one, true)).peakBytes();
    assertArrayEquals(new double[] {5000, 5000, 5000}, vertical, ROUNDING);
    double[] buffers =
        runPrediction(costs, new AsyncPipeline.DoubleBuffered(3, 3, false)).peakBytes();
    assertArrayEquals(new double[] {4000, 4000, 4000}, buffers, ROUNDING);
  }

  /** Micro-batches in flight: as many as stages from here on; and what one needs at work. */
  @Test
  void pipelinesHoldWhatTheirMicroBatchesKeep() {
    StageCosts costs = costs(3, 0, SLOT, 100, 7);
    RunPrediction runPrediction =
        runPrediction(costs, new AsyncPipeline.PipeDream(List.of(1, 1, 1), false));
    assertArrayEquals(new double[] {307, 207, 107}, runPrediction.peakBytes(), ROUNDING);
    // Of a single step, too, whose micro-batch is not alone.
    int[] held = runPrediction.oneOf(runPrediction.simulate()).peakActivations();
    assertArrayEquals(new int[] {3, 2, 1}, held);
  }

  /** On one device N(N + 1)/2 of the N² stages are held, where all at once would be N². */
  @ParameterizedTest
  @EnumSource(Cyclic.Rule.class)
  void oneDeviceHoldsLittleMoreThanHalf(Cyclic.Rule rule) {
    int workers = 6;
    AsyncPipeline asyncPipeline =
        new AsyncPipeline.CyclicDataParallel(new Cyclic(workers), Cyclic.Form.SINGLE, rule);
    double[] peaks = runPrediction(costs(workers, 0, SLOT, 100, 0), asyncPipeline).peakBytes();
    assertEquals(100.0 * workers * (workers + 1) / 2, peaks[0], ROUNDING);
  }

  /** Two versions of all, and of all a sum; in the ring one version. */
  @Test
  void cyclicWorkersHoldWhatTheirFormNeeds() {
    StageCosts costs = costs(3, 1000, SLOT, 0, 0);
    AsyncPipeline ring =
        new AsyncPipeline.CyclicDataParallel(new Cyclic(3), Cyclic.Form.RING, Cyclic.Rule.V1);
    for (double bytes : runPrediction(costs, ring).peakBytes()) {
      assertTrue(6000 < bytes && bytes <= 6000 + 2 * 3000 + 2000, "ring: " + bytes);
    }
    AsyncPipeline single =
        new AsyncPipeline.CyclicDataParallel(new Cyclic(3), Cyclic.Form.SINGLE, Cyclic.Rule.V1);
    double bytes = runPrediction(costs, single).peakBytes()[0];
    assertTrue(9000 <= bytes && bytes <= 13_000, "single: " + bytes);
  }

  private static AsyncPipeline migrating(int workers, Cyclic.Rule rule) {
    return new AsyncPipeline.CyclicDataParallel(new Cyclic(workers), Cyclic.Form.ZERO, rule);
  }

  /**
   * Seconds of messages at a rate of the parameters of a stage in a second, by worker, then stage.
   * Worker 0 gets a stage for a backward and a forward pass, or the other way round, from worker 1,
   * which gets it back for the passes that end a step: with momentum, and the sum of worker 0's
   * gradients. The version before goes along, unless nobody needs it: under the second rule only
   * worker 0's backward pass of the first stage does.
   */
  @Test
  void statesThatTravelTakeTheirMessages() {
    StageCosts costs = costs(2, 1000, new LayerTimes(0, 0, 0, 0), 0, 0);
    RunPrediction first = runPrediction(costs, migrating(2, Cyclic.Rule.V1));
    double[] everything = {2 + 1, 2 + 1, 2 + 1 + 1, 2 + 1 + 1};
    assertArrayEquals(everything, first.times().step().gradientPass(), ROUNDING);
    RunPrediction second = runPrediction(costs, migrating(2, Cyclic.Rule.V2));
    double[] fresh = {2 + 1, 2, 2 + 1, 2 + 1};
    assertArrayEquals(fresh, second.times().step().gradientPass(), ROUNDING);
    // Without computing a step takes as long as both stages, one after the other, to worker 1.
    assertEquals(4 + 4, first.simulatedStepSeconds(), 1e-4);
    assertEquals(3 + 3, second.simulatedStepSeconds(), 1e-4);
  }

  private static StageCosts busy(StageCosts costs) {
    Workload idle = costs.workload();
    Cluster cluster = idle.cluster().withSoftware(Software.IDEAL.withOverlap(0.25));
    return new StageCosts(new Workload(idle.chain(), idle.profile(), idle.training(), cluster));
  }

  /** Where the processor that computes carries messages, they take three quarters of it. */
  @Test
  void handingOnSlowsThePassesBesideIt() {
    StageCosts costs = costs(2, 1000, new LayerTimes(0, 0, 0, 0), 0, 0);
    AsyncPipeline ring =
        new AsyncPipeline.CyclicDataParallel(new Cyclic(2), Cyclic.Form.RING, Cyclic.Rule.V1);
    OpTimes idle = runPrediction(costs, ring).times();
    OpTimes slowed = runPrediction(busy(costs), ring).times();
    for (int stage = 0; stage < idle.stages(); stage++) {
      double message = idle.step().gradientPass()[stage];
      assertEquals(0.75 * message, slowed.input()[stage] - idle.input()[stage], 1e-5);
      assertEquals(idle.forward()[stage], slowed.forward()[stage]);
    }
  }

  /** Worker 0 gives both stages away behind its last pass of each, worker 1 behind its update. */
  @Test
  void statesThatLeaveSlowThePassesBesideThem() {
    StageCosts costs = costs(2, 1000, new LayerTimes(0, 0, 0, 0), 0, 0);
    OpTimes idle = runPrediction(costs, migrating(2, Cyclic.Rule.V1)).times();
    OpTimes slowed = runPrediction(busy(costs), migrating(2, Cyclic.Rule.V1)).times();
    double all = 0;
    for (int stage = 0; stage < idle.stages(); stage++) {
      all += slowed.forward()[stage] - idle.forward()[stage];
      all += slowed.input()[stage] - idle.input()[stage];
      all += slowed.step().update()[stage] - idle.step().update()[stage];
    }
    double left =
        Arrays.stream(idle.step().gradientPass()).sum(); // each leaves whom it does not come to
    assertEquals(0.75 * left, all, ROUNDING);
  }

  /** What goes through memory, where that carries a thousand bytes in a microsecond. */
  @Test
  void allAddToOneSumAndAnUpdateMayLeaveAnOlderVersion() {
    StageCosts costs = costs(2, 1000, SLOT, 0, 0);
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      var times = runPrediction(costs, migrating(2, rule)).times();
      double[] clearing = {4e-6, 4e-6, 3e-6, 3e-6};
      for (int stage = 0; stage < clearing.length; stage++) {
        double backward = times.input()[stage] + times.weight()[stage];
        assertEquals(1 + clearing[stage], backward, ROUNDING);
      }
      double[] copies = {2e-6, rule == Cyclic.Rule.V1 ? 2e-6 : 0}; // of worker 1, who updates
      assertEquals(copies[0], times.step().update()[2], ROUNDING);
      assertEquals(copies[1], times.step().update()[3], ROUNDING);
    }
  }

  /**
   * Of two stages the parameters and moments, the sums that the first of two workers has handed on
   * and that take a second each to leave, and room for both that come back: of 1000 bytes each.
   */
  @Test
  void sumsThatAreHandedOnAreHeldUntilTheyHaveLeft() {
    AsyncPipeline ring =
        new AsyncPipeline.CyclicDataParallel(new Cyclic(2), Cyclic.Form.RING, Cyclic.Rule.V2);
    double[] peaks = runPrediction(costs(2, 1000, SLOT, 0, 1), ring).peakBytes();
    assertEquals(4000 + 2000 + 2000, peaks[0], ROUNDING);
  }

  /** Nothing goes anywhere where there is nobody else; the first rule keeps a version more. */
  @Test
  void statesOfOneWorkerStay() {
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      RunPrediction alone = runPrediction(costs(1, 1000, SLOT, 0, 0), migrating(1, rule));
      double versions = rule == Cyclic.Rule.V1 ? 2 : 1;
      assertEquals(2000 + versions * 1000, alone.peakBytes()[0], ROUNDING);
      assertEquals(0, alone.times().step().gradientPass()[0]);
    }
  }

  /**
   * Of two workers each has a stage at hand, and another one coming or leaving: parameters and
   * momentum, the sum of gradients, the version before, of 1000 bytes each, one in a second. Passes
   * take so long that stages come and go between them only.
   */
  @Test
  void travellingStatesAreHereOrComeOrLeave() {
    StageCosts costs = costs(2, 1000, new LayerTimes(1000, 1000, 0, 0), 0, 0);
    // Each asks for the other stage a pass ahead: worker 0 for three thousand bytes while its
    // backward pass has all four of the second, worker 1 for four while it updates the other.
    double[] first = runPrediction(costs, migrating(2, Cyclic.Rule.V1)).peakBytes();
    assertArrayEquals(new double[] {4000 + 3000, 4000 + 4000}, first, ROUNDING);
    // There is never an older version of the second, and of the first only from its update to
    // worker 0's backward pass.
    double[] second = runPrediction(costs, migrating(2, Cyclic.Rule.V2)).peakBytes();
    assertArrayEquals(new double[] {3000 + 3000, 3000 + 3000}, second, ROUNDING);
  }

  /**
   * The most of a pass is at its middle; what left when it began has left by then. Worker 1 asks
   * for all of the first stage behind the second's passes, and for all of the second when of the
   * first only the older version is left beside the newest.
   */
  @Test
  void passesMeetWhatIsThereInTheirMiddle() {
    StageCosts costs = costs(2, 1000, new LayerTimes(1000, 1000, 0, 0), 0, 3000);
    double[] peaks = runPrediction(costs, migrating(2, Cyclic.Rule.V1)).peakBytes();
    assertArrayEquals(new double[] {4000 + 3000 + 3000, 3000 + 4000 + 3000}, peaks, ROUNDING);
  }

  /** The same to a profile that says nothing of what layers need at work. */
  @Test
  void travellingStatesWithoutWorkingMemory() {
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      StageCosts costs = costs(2, 1000, SLOT, 100, 0);
      Profile known = costs.workload().profile();
      Profile silent =
          new Profile(
              known.provenance(),
              known.precision(),
              Collections.nCopies(2, known.sizes(0)),
              known.samples(),
              List.of(Collections.nCopies(2, SLOT)),
              List.of());
      StageCosts other =
          new StageCosts(
              new Workload(
                  costs.workload().chain(),
                  silent,
                  costs.workload().training(),
                  costs.workload().cluster()));
      AsyncPipeline asyncPipeline = migrating(2, rule);
      double[] wanted = runPrediction(costs, asyncPipeline).peakBytes();
      assertArrayEquals(wanted, runPrediction(other, asyncPipeline).peakBytes(), ROUNDING);
    }
  }

  /** What workers say of a step in the middle stands beside the same step of a run. */
  @Test
  void aStepIsComparedWithOneOfARun() {
    AsyncPipeline asyncPipeline = new AsyncPipeline.PipeDream(List.of(1, 1), false);
    RunPrediction runPrediction =
        runPrediction(costs(2, 0, new LayerTimes(1, 2, 0, 0), 0, 0), asyncPipeline);
    Run run = runPrediction.oneOf(runPrediction.simulate());
    assertEquals(3, run.schedule().packed(0).length); // a pass each way, and the update
    assertEquals(3, run.busy(0), ROUNDING);
    double[] ends = IntStream.range(0, 3).mapToDouble(i -> run.end(0, i)).toArray();
    assertTrue(Arrays.stream(ends).max().orElseThrow() <= 2 * 3);
    double[][] times = {{0, 1, 3}, {0, 1, 3}};
    double[] none = new double[2];
    var stages = List.of(StageLayers.keeping(0, 0), StageLayers.keeping(1, 1));
    Run measured =
        MeasuredRun.ofFlow(
            Assignment.of(asyncPipeline, stages, List.of(1, 1), 1).over(5),
            new RecordedStep(2, 3, times, times, times, none, none));
    assertArrayEquals(new int[] {2, 1}, run.peakActivations());
    assertArrayEquals(new int[] {2, 1}, measured.peakActivations());
  }
}
