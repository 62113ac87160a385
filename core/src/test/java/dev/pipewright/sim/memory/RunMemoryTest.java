package dev.pipewright.sim.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.DualPipe;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Hanayo;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.PipeDream2bw;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.RandomPrograms;
import dev.pipewright.schedule.RandomPrograms.Part;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.ZeroBubbleH2;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.trace.RankMemory;
import dev.pipewright.trace.RankMemory.Category;
import dev.pipewright.trace.Timeline.Memory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class RunMemoryTest {
  private static final String SEEDED = "seed {currentRepetition}";

  private static Run run(SplittableRandom random, Schedule schedule) {
    int stages = schedule.stages();
    return StaticSimulator.run(
        schedule,
        OpTimes.of(
            random.doubles(stages, 0.1, 1).toArray(),
            random.doubles(stages, 0.1, 1).toArray(),
            random.doubles(stages, 0.1, 1).toArray(),
            random.nextDouble()));
  }

  private static StageBytes stage(SplittableRandom random) {
    double activation = random.nextDouble();
    return new StageBytes(
        random.nextDouble(),
        random.nextDouble(),
        random.nextDouble(),
        activation,
        activation * random.nextDouble(),
        random.nextDouble(),
        random.nextDouble(),
        random.nextDouble());
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void isWhatACountAtAnyTimeFinds(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Placement placement = RandomPrograms.placement(random);
    Schedule schedule =
        RandomPrograms.of(random, placement, random.nextInt(1, 6), Part.RECOMPUTED, Part.UPDATES);
    Run run = run(random, schedule);
    List<StageBytes> stages = new ArrayList<>();
    for (int i = 0; i < placement.depth(); i++) {
      stages.add(stage(random));
    }
    Recount recount = new Recount(run, stages);
    List<RankMemory.Peak> peaks = RunMemory.peaks(run, stages);
    for (RankMemory memory : RunMemory.of(run, stages)) {
      assertEquals(memory.peak(), peaks.get(memory.rank()), "the peak alone is the same");
      double most = 0;
      for (double time : recount.times()) {
        double total = 0;
        for (Category category : Category.values()) {
          double expected = recount.of(category, memory.rank(), time);
          String what = category + " at " + time;
          assertEquals(expected, memory.of(category).at(time), 1e-9, what);
          total += expected;
        }
        assertEquals(total, memory.total().at(time), 1e-9);
        most = Math.max(most, total);
      }
      assertEquals(most, memory.peak().bytes(), 1e-9);
      assertPeak(memory);
    }
  }

  /** It is the most, it is reached when it says and not before, and its parts add up. */
  private static void assertPeak(RankMemory memory) {
    RankMemory.Peak peak = memory.peak();
    assertEquals(memory.total().most(), peak.bytes(), 1e-9);
    double sum = 0;
    for (Category category : Category.values()) {
      sum += peak.of(category);
    }
    assertEquals(peak.bytes(), sum, 1e-9);
    double[] seconds = memory.total().seconds();
    double[] bytes = memory.total().bytes();
    for (int i = 0; i < seconds.length; i++) {
      assertTrue(i == 0 || seconds[i] >= seconds[i - 1]);
      assertTrue(seconds[i] >= peak.seconds() || bytes[i] < peak.bytes());
    }
  }

  private static void assertActivations(Run run) {
    int depth = run.schedule().placement().depth();
    List<RankMemory> ranks =
        RunMemory.of(run, Collections.nCopies(depth, StageBytes.activations(1)));
    for (RankMemory memory : ranks) {
      String name = run.schedule().name() + " rank " + memory.rank();
      assertEquals(run.peakActivations()[memory.rank()], memory.peak().bytes(), name);
      assertEquals(memory.peak().bytes(), memory.of(Category.ACTIVATIONS).most());
      double[] bytes = memory.total().bytes();
      assertEquals(0, bytes[bytes.length - 1]);
    }
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void activationsAloneAreWhatTheRunCounts(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Placement placement = RandomPrograms.placement(random);
    int microBatches = random.nextInt(1, 8);
    assertActivations(run(random, RandomPrograms.of(random, placement, microBatches)));
  }

  @Test
  void activationsOfPublishedSchedulesAreWhatTheirRunsCount() {
    List<Schedule> schedules =
        List.of(
            GPipe.of(4, 8),
            OneForwardOneBackward.of(4, 8),
            Interleaved.of(4, 2, 8),
            ZeroBubbleH1.of(4, 8),
            ZeroBubbleH2.of(4, 8),
            Hanayo.of(4, 8, 2),
            Chimera.of(4, 8),
            DualPipe.of(4, 8),
            DualPipeV.of(4, 8),
            new Cyclic(4).schedule(Cyclic.Rule.V2, 3));
    for (Schedule schedule : schedules) {
      assertActivations(run(new SplittableRandom(1), schedule));
      OpTimes nothing = OpTimes.equal(schedule.stages(), 0, 0, 0, 0);
      assertActivations(StaticSimulator.run(schedule, nothing)); // in order, though all at once
    }
  }

  @RepeatedTest(value = 60, name = SEEDED)
  void aPlansMemoryIsWhatTheRecorderDraws(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 8)), 12);
    int devices = costs.workload().cluster().size();
    int count = random.nextInt(1, Math.min(costs.size(), devices) + 1);
    int microBatches = random.nextInt(1, 13);
    PipelinePolicy policy =
        List.of(PipelinePolicy.A, PipelinePolicy.B, PipelinePolicy.ALL).get(random.nextInt(3));
    int[] inFlight = policy.inFlight(count, microBatches);
    List<StagePlan> list = new ArrayList<>();
    for (int s = 0; s < count; s++) {
      int last = s == count - 1 ? costs.size() - 1 : s;
      Recompute recompute = random.nextBoolean() ? Recompute.NONE : Recompute.STAGE_INPUT;
      list.add(new StagePlan(s, last, List.of(s), recompute, inFlight[s]));
    }
    PipelinePlan plan = new PipelinePlan(policy, microBatches, 1, 1, false, list);
    Assessment priced = new PipelineOracle(costs, new PathFormula()).assess(plan);
    Run run = SimulatedOracle.run(plan, priced);
    List<StageBytes> stages = new ArrayList<>();
    for (int s = 0; s < count; s++) {
      StageMemory memory = priced.stages().get(s).memory();
      double held = memory.heldBytes();
      stages.add(new StageBytes(memory.staticBytes(), 0, 0, held, 0, 1, memory.workingBytes(), 0));
    }
    for (RankMemory memory : RunMemory.of(run, stages)) {
      Memory expected = counted(run, memory.rank(), priced.stages().get(memory.rank()).memory());
      double dust = 1e-9 * (1 + expected.peak());
      assertEquals(expected.peak(), memory.peak().bytes(), dust);
      assertEquals(expected.staticBytes(), memory.of(Category.PARAMETERS).at(0));
      double[] seconds = expected.seconds();
      for (int i = 0; i < seconds.length; i++) {
        double until = i + 1 < seconds.length ? seconds[i + 1] : run.makespan();
        if (until > seconds[i]) {
          double middle = (seconds[i] + until) / 2;
          assertEquals(expected.bytes()[i], memory.total().at(middle), dust);
        }
      }
      assertEquals(expected.staticBytes(), memory.total().at(run.makespan()), dust);
    }
  }

  /** Activations appear when a forward pass starts and go when its backward pass ends. */
  private static Memory counted(Run run, int stage, StageMemory sizes) {
    int microBatches = run.schedule().microBatches();
    long[] program = run.schedule().packed(stage);
    double[] seconds = new double[4 * microBatches + 1];
    double[] bytes = new double[seconds.length];
    double now = sizes.staticBytes();
    bytes[0] = now;
    int at = 1;
    for (int i = 0; i < 2 * microBatches; i++) { // the step's end changes nothing
      boolean isForward = Schedule.pass(program[i]) == Op.Pass.FORWARD;
      boolean isLast = Schedule.microBatch(program[i]) == microBatches - 1;
      double kept = isLast ? sizes.lastBytes() : 0; // from the forward pass on
      seconds[at] = run.start(stage, i);
      now += isForward ? sizes.heldBytes() + kept : sizes.workingBytes() - kept;
      bytes[at++] = now;
      seconds[at] = run.end(stage, i);
      now -= isForward ? 0 : sizes.heldBytes() + sizes.workingBytes();
      bytes[at++] = now;
    }
    return new Memory(stage, sizes.staticBytes(), sizes.capacity().value(), seconds, bytes);
  }

  /** One forward, one backward without a flush: an update after every {@code every}-th backward. */
  private static Schedule updating(int ranks, int microBatches, int every) {
    Schedule flushing = OneForwardOneBackward.of(ranks, microBatches);
    long[][] programs = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      Program program = new Program();
      int done = 0;
      for (long op : flushing.packed(rank)) {
        program.add(Schedule.pass(op), rank, Schedule.microBatch(op));
        if (Schedule.pass(op) == Pass.BACKWARD && ++done % every == 0) {
          program.add(Pass.UPDATE, rank, done / every - 1);
        }
      }
      programs[rank] = program.packed();
    }
    return new Schedule("updating", ranks, microBatches, programs);
  }

  private static double[] stashed(int ranks, int every) {
    Run run = run(new SplittableRandom(1), updating(ranks, 8 * ranks, every));
    StageBytes bytes = new StageBytes(1, 0, 0, 1, 0, 1, 0, 0);
    return RunMemory.of(run, Collections.nCopies(ranks, bytes)).stream()
        .mapToDouble(memory -> memory.of(Category.STASHED_PARAMETERS).most())
        .toArray();
  }

  /** PipeDream, §3.3: as many versions as micro-batches in flight, the newest among them. */
  @Test
  void anUpdateAfterEachBackwardPassStashesAVersionForEachMicroBatchInFlight() {
    for (int ranks = 1; ranks <= 6; ranks++) {
      double[] stashed = stashed(ranks, 1);
      for (int rank = 0; rank < ranks; rank++) {
        assertEquals(ranks - rank - 1, stashed[rank], "rank " + rank + " of " + ranks);
      }
    }
  }

  /** PipeDream-2BW: an update after so many micro-batches as there are stages needs two buffers. */
  @Test
  void anUpdateAfterAsManyMicroBatchesAsStagesKeepsTwoVersions() {
    for (int ranks = 2; ranks <= 6; ranks++) {
      double[] stashed = stashed(ranks, ranks);
      for (int rank = 0; rank < ranks - 1; rank++) {
        assertEquals(1, stashed[rank], "rank " + rank + " of " + ranks);
      }
      assertEquals(0, stashed[ranks - 1], "nothing is in flight when the last rank updates");
    }
  }

  /** Micro-batches of an update take the version before the newest, in one stage as well. */
  @Test
  void pipeDreamTwoBuffersKeepsTwoVersionsInEveryStage() {
    StageBytes bytes = new StageBytes(1, 0, 0, 0, 0, 1, 0, 0);
    for (int ranks = 1; ranks <= 6; ranks++) {
      for (int perUpdate = ranks; perUpdate <= ranks + 2; perUpdate++) {
        int each = perUpdate;
        Run run = run(new SplittableRandom(1), PipeDream2bw.of(ranks, perUpdate, 4));
        for (RankMemory memory :
            RunMemory.of(
                run,
                Collections.nCopies(ranks, bytes),
                microBatch -> PipeDream2bw.version(microBatch, each))) {
          String what = "rank " + memory.rank() + " of " + ranks;
          assertEquals(2, memory.peak().bytes(), what);
          assertEquals(0, memory.of(Category.STASHED_PARAMETERS).at(run.makespan() + 1), what);
        }
      }
    }
  }

  @Test
  void chainsOnOneRankShareTheParametersAndOnDifferentRanksDoNot() {
    StageBytes bytes = new StageBytes(100, 10, 1, 0, 0, 0, 0, 0);
    Schedule bothWays = DualPipe.of(4, 8);
    for (RankMemory memory :
        RunMemory.of(run(new SplittableRandom(2), bothWays), Collections.nCopies(4, bytes))) {
      assertEquals(222, memory.peak().bytes()); // its own stage, and its mirror's
      assertEquals(200, memory.of(Category.PARAMETERS).at(1));
    }
    int[] alternating = {0, 1, 0, 1}; // two chains of two stages
    Schedule robin = RandomPrograms.of(new SplittableRandom(3), Placement.of(2, 2, alternating), 3);
    for (RankMemory memory :
        RunMemory.of(run(new SplittableRandom(3), robin), Collections.nCopies(2, bytes))) {
      assertEquals(111, memory.peak().bytes());
    }
    Schedule cyclic = new Cyclic(3).schedule(Cyclic.Rule.V1, 2);
    for (RankMemory memory :
        RunMemory.of(run(new SplittableRandom(4), cyclic), Collections.nCopies(3, bytes))) {
      assertEquals(333, memory.peak().bytes());
    }
  }

  @Test
  void halvesOfABackwardPassFreeTheirShares() {
    StageBytes bytes = new StageBytes(0, 0, 0, 10, 0, 0.25, 0, 0);
    Schedule schedule = ZeroBubbleH1.of(1, 1); // F0 I0 W0
    Run run = StaticSimulator.run(schedule, OpTimes.equal(1, 1, 1, 1, 0));
    RankMemory memory = RunMemory.of(run, List.of(bytes)).get(0);
    assertEquals(10, memory.total().at(0.5));
    assertEquals(10, memory.total().at(1.5));
    assertEquals(2.5, memory.total().at(2.5));
    assertEquals(0, memory.total().at(3.5));
    assertEquals(0, memory.peak().seconds());
  }

  @Test
  void wrongSizesAreRefused() {
    Run run = run(new SplittableRandom(1), GPipe.of(2, 2));
    List<StageBytes> one = List.of(StageBytes.activations(1));
    assertThrows(IllegalArgumentException.class, () -> RunMemory.of(run, one));
    assertThrows(IllegalArgumentException.class, () -> StageBytes.activations(-1));
    assertThrows(IllegalArgumentException.class, () -> new StageBytes(0, 0, 0, 1, 2, 0, 0, 0));
    assertThrows(IllegalArgumentException.class, () -> new StageBytes(0, 0, 0, 1, 1, 1.5, 0, 0));
  }
}
