package dev.pipewright.execution;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.Flow;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.steady.SteadyState;
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
class FlowExpectationTest {
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

  private static Expectation expectation(StageCosts costs, Flow flow) {
    List<StageLayers> stages =
        IntStream.range(0, flow.stages()).mapToObj(i -> StageLayers.keeping(i, i)).toList();
    int ranks = flow.schedule(flow.round()).ranks();
    List<Integer> workers = Collections.nCopies(ranks, 1);
    return new Expectation(costs, Assignment.of(flow, stages, workers, flow.microBatches()));
  }

  /** A training step has 2N slots, on one device all passes one after the other. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void cyclicStepsTakeTheirSlots(int workers) {
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      for (Cyclic.Form form :
          List.of(
              Cyclic.Form.RING, Cyclic.Form.SINGLE, Cyclic.Form.PYRAMID, Cyclic.Form.PIPELINE)) {
        Flow flow = new Flow.OneAfterAnother(new Cyclic(workers), form, rule);
        double slots = form == Cyclic.Form.SINGLE ? 2.0 * workers * workers : 2.0 * workers;
        Expectation expectation = expectation(costs(workers, 0, SLOT, 0, 0), flow);
        assertEquals(slots, expectation.simulatedStepSeconds(), ROUNDING, flow.name());
        assertEquals(slots, expectation.predictedStepSeconds(), ROUNDING, flow.name());
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
    Flow flow =
        pipeDream
            ? new Flow.PipeDream(replicas, false)
            : new Flow.TwoBuffers(depth, microBatches, false);
    double steady = SteadyState.of(plan, costs, Conditions.PLAIN).seconds();
    assertEquals(steady, expectation(costs, flow).predictedStepSeconds(), 0.02 * steady);
  }

  /**
   * The newest parameters and their moments, older versions, a sum of gradients: of 1000 bytes
   * each. Nothing else is held.
   */
  @Test
  void pipelinesHoldTheirVersions() {
    StageCosts costs = costs(3, 1000, SLOT, 0, 0);
    List<Integer> one = List.of(1, 1, 1);
    double[] stashed = expectation(costs, new Flow.PipeDream(one, false)).peakBytes();
    assertArrayEquals(new double[] {5000, 4000, 3000}, stashed, ROUNDING);
    double[] vertical = expectation(costs, new Flow.PipeDream(one, true)).peakBytes();
    assertArrayEquals(new double[] {5000, 5000, 5000}, vertical, ROUNDING);
    double[] buffers = expectation(costs, new Flow.TwoBuffers(3, 3, false)).peakBytes();
    assertArrayEquals(new double[] {4000, 4000, 4000}, buffers, ROUNDING);
  }

  /** Micro-batches in flight: as many as stages from here on; and what one needs at work. */
  @Test
  void pipelinesHoldWhatTheirMicroBatchesKeep() {
    StageCosts costs = costs(3, 0, SLOT, 100, 7);
    double[] peaks = expectation(costs, new Flow.PipeDream(List.of(1, 1, 1), false)).peakBytes();
    assertArrayEquals(new double[] {307, 207, 107}, peaks, ROUNDING);
  }

  /** On one device N(N + 1)/2 of the N² stages are held, where all at once would be N². */
  @ParameterizedTest
  @EnumSource(Cyclic.Rule.class)
  void oneDeviceHoldsLittleMoreThanHalf(Cyclic.Rule rule) {
    int workers = 6;
    Flow flow = new Flow.OneAfterAnother(new Cyclic(workers), Cyclic.Form.SINGLE, rule);
    double[] peaks = expectation(costs(workers, 0, SLOT, 100, 0), flow).peakBytes();
    assertEquals(100.0 * workers * (workers + 1) / 2, peaks[0], ROUNDING);
  }

  /** Two versions of all, and of all a sum; in the ring one version. */
  @Test
  void cyclicWorkersHoldWhatTheirFormNeeds() {
    StageCosts costs = costs(3, 1000, SLOT, 0, 0);
    Flow ring = new Flow.OneAfterAnother(new Cyclic(3), Cyclic.Form.RING, Cyclic.Rule.V1);
    for (double bytes : expectation(costs, ring).peakBytes()) {
      assertTrue(6000 < bytes && bytes <= 6000 + 2 * 3000 + 2000, "ring: " + bytes);
    }
    Flow single = new Flow.OneAfterAnother(new Cyclic(3), Cyclic.Form.SINGLE, Cyclic.Rule.V1);
    double bytes = expectation(costs, single).peakBytes()[0];
    assertTrue(9000 <= bytes && bytes <= 13_000, "single: " + bytes);
  }

  /** What workers say of a step in the middle stands beside the same step of a run. */
  @Test
  void aStepIsComparedWithOneOfARun() {
    Flow flow = new Flow.PipeDream(List.of(1, 1), false);
    Expectation expectation = expectation(costs(2, 0, new LayerTimes(1, 2, 0, 0), 0, 0), flow);
    var run = expectation.oneOf(expectation.simulate());
    assertEquals(3, run.schedule().packed(0).length); // a pass each way, and the update
    assertEquals(3, run.busy(0), ROUNDING);
    double[] ends = IntStream.range(0, 3).mapToDouble(i -> run.end(0, i)).toArray();
    assertTrue(Arrays.stream(ends).max().orElseThrow() <= 2 * 3);
  }
}
