package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.profile.Profile;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class SteadyStateTest {
  private static final String SEEDED = "seed {currentRepetition}";
  private static final Link FREE = Link.of(0, 1e30);
  private static final Link SLOW = Link.of(0, 1e6);

  private static StageCosts costs(SplittableRandom random, int layers, Link link, int devices) {
    Profile profile = Samples.profile(random, layers);
    Cluster cluster = Samples.plain(List.of(link), devices);
    Training training = new Training(Optimizer.ADAM, Precision.FP32);
    return new StageCosts(
        new Workload(Chain.of(Samples.chain(layers)), profile, training, cluster));
  }

  /** Cuts the layers somewhere, one stage for each number of devices. */
  private static AsynchronousPlan plan(
      SplittableRandom random, Rule rule, int layers, Recompute recompute, int... devices) {
    List<StagePlan> bare = new ArrayList<>();
    int first = 0;
    int device = 0;
    for (int s = 0; s < devices.length; s++) {
      int behind = devices.length - 1 - s;
      int last = behind == 0 ? layers - 1 : random.nextInt(first, layers - behind);
      List<Integer> own = IntStream.range(device, device + devices[s]).boxed().toList();
      bare.add(new StagePlan(first, last, own, recompute, 1));
      first = last + 1;
      device += devices[s];
    }
    int[] inFlight = AsynchronousPlan.inFlight(rule, bare);
    List<StagePlan> stages = new ArrayList<>();
    for (StagePlan stage : bare) {
      stages.add(
          new StagePlan(
              stage.firstLayer(),
              stage.lastLayer(),
              stage.devices(),
              recompute,
              inFlight[stages.size()]));
    }
    boolean two = rule == Rule.TWO_BUFFERS;
    return new AsynchronousPlan(
        rule,
        two ? devices.length + random.nextInt(4) : inFlight[0],
        random.nextInt(1, 4),
        two ? devices[0] : 1,
        stages);
  }

  /** Seconds of a stage's work for a micro-batch on one device. */
  private static double work(StageCosts costs, StagePlan stage, int samples) {
    double[] forward = costs.forwardSeconds(samples);
    double[] backward = costs.backwardSeconds(samples);
    int first = stage.firstLayer();
    int end = stage.lastLayer() + 1;
    double once = forward[end] - forward[first];
    boolean again = stage.recompute() == Recompute.STAGE_INPUT;
    return backward[end] - backward[first] + (again ? 2 : 1) * once;
  }

  private static double update(StageCosts costs, StagePlan stage) {
    return costs.updateSeconds()[stage.lastLayer() + 1] - costs.updateSeconds()[stage.firstLayer()];
  }

  private static SteadyState run(AsynchronousPlan plan, StageCosts costs) {
    return SteadyState.of(plan, costs, SimulatedOracle.USUAL);
  }

  /** The referee of the timeline's memory is the long run; that of its work the schedule. */
  @RepeatedTest(value = 60, name = SEEDED)
  void theTimelineShowsWholeRoundsWithThePeaksOfALongRun(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int depth = random.nextInt(1, 5);
    int layers = depth + random.nextInt(4);
    Rule rule = random.nextBoolean() ? Rule.PIPEDREAM : Rule.TWO_BUFFERS;
    int copies = random.nextInt(1, 4);
    int[] devices = new int[depth];
    for (int stage = 0; stage < depth; stage++) {
      devices[stage] = rule == Rule.TWO_BUFFERS ? copies : random.nextInt(1, 4);
    }
    StageCosts costs = costs(random, layers, SLOW, IntStream.of(devices).sum());
    AsynchronousPlan plan = plan(random, rule, layers, Recompute.NONE, devices);
    SteadyState steady = run(plan, costs);
    Timeline timeline = SteadyState.timeline(plan, costs, SimulatedOracle.USUAL);
    assertEquals(steady.memory().size(), timeline.compute().size());
    for (int rank = 0; rank < steady.memory().size(); rank++) {
      double peak = steady.memory().get(rank).peak().bytes();
      assertEquals(peak, timeline.memory().get(rank).peak(), 1e-9 * peak);
    }
    long first =
        timeline.compute().stream()
            .flatMap(lane -> lane.slices().stream())
            .filter(slice -> slice.kind() == Kind.FORWARD && slice.stage() % depth == 0)
            .count();
    assertEquals(SteadyState.shown(plan) * plan.round(), first);
    for (Timeline.Flow flow : timeline.flows()) {
      Timeline.Slice from = timeline.compute().get(flow.from()).slices().get(flow.fromSlice());
      Timeline.Slice to = timeline.compute().get(flow.to()).slices().get(flow.toSlice());
      assertEquals(from.microBatch(), to.microBatch(), flow::toString);
      assertEquals(from.kind(), to.kind());
      assertTrue(to.start() >= from.end() - 1e-12, flow::toString);
    }
  }

  /** Replicas of a stage are on machines of their own, so that messages of one cut differ. */
  @RepeatedTest(value = 30, name = SEEDED)
  void messagesOfTheTimelineTakeWhatTheirDevicesNeed(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int layers = random.nextInt(2, 6);
    Profile profile = Samples.profile(random, layers);
    Cluster cluster = Samples.plain(List.of(Link.of(0, 1e9), SLOW), 2, 2);
    StageCosts costs =
        new StageCosts(
            new Workload(
                Chain.of(Samples.chain(layers)),
                profile,
                new Training(Optimizer.ADAM, Precision.FP32),
                cluster));
    AsynchronousPlan plan = plan(random, Rule.PIPEDREAM, layers, Recompute.NONE, 3, 1);
    Timeline timeline = SteadyState.timeline(plan, costs, SimulatedOracle.USUAL);
    double bytes =
        costs.cutBytes()[plan.stages().get(0).lastLayer() + 1] * (double) plan.microBatch();
    int messages = 0;
    for (Timeline.Lane lane : timeline.lanes()) {
      if (lane instanceof Timeline.Lane.Link link) {
        int from = timeline.compute().get(link.from()).devices().get(0);
        int to = timeline.compute().get(link.to()).devices().get(0);
        boolean inside = cluster.machine(from) == cluster.machine(to);
        for (Timeline.Slice slice : link.slices()) {
          assertEquals(bytes / (inside ? 1e9 : 1e6), slice.seconds(), 1e-9 * slice.end());
          messages++;
        }
      }
    }
    assertTrue(messages > 0);
  }

  @RepeatedTest(value = 60, name = SEEDED)
  void theSlowestStageSetsThePaceWhereLinksAreFree(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int depth = random.nextInt(1, 5);
    int layers = depth + random.nextInt(4);
    StageCosts costs = costs(random, layers, FREE, depth);
    int[] ones = IntStream.generate(() -> 1).limit(depth).toArray();
    AsynchronousPlan plan = plan(random, Rule.PIPEDREAM, layers, Recompute.NONE, ones);
    double pace = 0;
    double all = 0;
    for (StagePlan stage : plan.stages()) {
      double busy = work(costs, stage, plan.microBatch()) + update(costs, stage);
      pace = Math.max(pace, busy);
      all += busy;
    }
    SteadyState steady = run(plan, costs);
    assertEquals(pace, steady.seconds(), 1e-9 * pace);
    assertEquals(1 - all / depth / pace, steady.idleShare(), 1e-9);
  }

  @RepeatedTest(value = 60, name = SEEDED)
  void anUpdateOfTwoBuffersTakesAsLongAsTheSlowestStagesMicroBatches(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(1000 + seed.getCurrentRepetition());
    int depth = random.nextInt(1, 5);
    int layers = depth + random.nextInt(4);
    int width = random.nextInt(1, 3);
    StageCosts costs = costs(random, layers, FREE, depth * width);
    Recompute recompute = random.nextBoolean() ? Recompute.NONE : Recompute.STAGE_INPUT;
    int[] wide = IntStream.generate(() -> width).limit(depth).toArray();
    AsynchronousPlan plan = plan(random, Rule.TWO_BUFFERS, layers, recompute, wide);
    double pace = 0;
    double updates = 0;
    for (StagePlan stage : plan.stages()) {
      double batch = plan.microBatches() * work(costs, stage, plan.microBatch());
      pace = Math.max(pace, batch + update(costs, stage));
      updates += update(costs, stage);
    }
    double seconds = run(plan, costs).seconds();
    assertTrue(seconds >= pace * (1 - 1e-9), seconds + " < " + pace);
    assertTrue(seconds <= (pace + updates) * (1 + 1e-9), seconds + " > " + pace);
  }

  @RepeatedTest(value = 60, name = SEEDED)
  void replicasThatSumGradientsShareTheWork(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(2000 + seed.getCurrentRepetition());
    int devices = random.nextInt(1, 5);
    StageCosts costs = costs(random, 3, SLOW, devices);
    AsynchronousPlan plan = plan(random, Rule.PIPEDREAM, 3, Recompute.NONE, devices);
    StagePlan only = plan.stages().get(0);
    int[] group = IntStream.range(0, devices).toArray();
    double sum =
        Collectives.achieved(costs.workload().cluster(), group)
            .allReduce(costs.parameterBytes()[3]);
    double each = work(costs, only, plan.microBatch()) + sum + update(costs, only);
    assertEquals(each / devices, run(plan, costs).seconds(), 1e-9 * each);
  }

  @RepeatedTest(value = 200, name = SEEDED)
  void simulatedMemoryIsWhatThePricesSayAndTimeNoLessThanTheWork(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(3000 + seed.getCurrentRepetition());
    int depth = random.nextInt(1, 4);
    int layers = depth + random.nextInt(4);
    boolean two = random.nextBoolean();
    int width = random.nextInt(1, 4);
    int[] devices = random.ints(depth, 1, 4).map(r -> two ? width : r).toArray();
    StageCosts costs = costs(random, layers, SLOW, IntStream.of(devices).sum());
    Rule rule = two ? Rule.TWO_BUFFERS : Rule.PIPEDREAM;
    AsynchronousPlan plan = plan(random, rule, layers, Recompute.NONE, devices);
    SteadyState steady = run(plan, costs);
    List<StageMemory> sizes = new AsynchronousCosts(costs, plan).memory();
    int rank = 0;
    double pace = 0;
    for (int s = 0; s < depth; s++) {
      StagePlan stage = plan.stages().get(s);
      int share = two ? 1 : stage.replicas();
      double turns = two ? plan.microBatches() : 1.0 / share;
      pace = Math.max(pace, work(costs, stage, plan.microBatch()) * turns);
      for (int i = 0; i < share; i++, rank++) {
        double peak = steady.memory().get(rank).peak().bytes();
        double most = sizes.get(s).peakBytes();
        assertTrue(peak <= most * (1 + 1e-9), peak + " > " + most);
        if (!two) {
          assertEquals(most, peak, 1e-9 * most); // each micro-batch has a version of its own
        }
        assertEquals(stage.devices().get(i), steady.ranks().get(rank));
      }
    }
    assertTrue(steady.seconds() >= pace * (1 - 1e-9), steady.seconds() + " < " + pace);
  }

  @Test
  void microBatchesStayInTheirMachine() {
    List<StagePlan> stages =
        List.of(
            new StagePlan(0, 0, List.of(0, 1, 3, 4), Recompute.NONE, 2),
            new StagePlan(1, 1, List.of(2, 5), Recompute.NONE, 1));
    AsynchronousPlan plan = new AsynchronousPlan(Rule.PIPEDREAM, 2, 1, 1, stages);
    Cluster cluster = Samples.plain(List.of(FREE, SLOW), 3, 2);
    int[] devices = SteadyState.devices(plan, cluster);
    assertArrayEquals(new int[] {0, 3, 1, 4, 2, 5}, devices);
    for (int microBatch = 0; microBatch < 4; microBatch++) {
      int from = devices[microBatch % 4];
      assertEquals(cluster.machine(from), cluster.machine(devices[4 + microBatch % 2]));
    }
  }

  @Test
  void manyTurnsAreMeasuredOverFewerRounds() {
    SplittableRandom random = new SplittableRandom(1);
    AsynchronousPlan plan = plan(random, Rule.PIPEDREAM, 4, Recompute.NONE, 16, 15, 13, 11);
    assertEquals(34_320, plan.round());
    assertTrue(SteadyState.rounds(plan) <= 6);
    assertEquals(25, SteadyState.rounds(plan(random, Rule.PIPEDREAM, 2, Recompute.NONE, 1, 1)) - 3);
  }
}
