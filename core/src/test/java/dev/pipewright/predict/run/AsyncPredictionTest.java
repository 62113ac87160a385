package dev.pipewright.predict.run;

import static dev.pipewright.predict.run.AsyncRuns.SLOT;
import static dev.pipewright.predict.run.AsyncRuns.busy;
import static dev.pipewright.predict.run.AsyncRuns.costs;
import static dev.pipewright.predict.run.AsyncRuns.runPrediction;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.SteadyState;
import dev.pipewright.execution.MeasuredRun;
import dev.pipewright.execution.RecordedStep;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.schedule.periodic.RepeatedOp;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Run;
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
 * Steps of asynchronous schedules: seconds against the slots of the papers and against the
 * planners' steady state, bytes by hand.
 */
class AsyncPredictionTest {
  private static final double ROUNDING = 1e-9;

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
