package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.PlanMemory;
import dev.pipewright.cost.PlanTimeline;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Content;
import dev.pipewright.trace.Timeline.Flow;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.Slice;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class RecorderTest {
  private static final double DUST = 1e-9;
  private static final String SEEDED = "seed {currentRepetition}";

  /** A priced plan of one to four stages, one device each, and its timeline. */
  private record Step(PipelinePlan plan, Assessment priced, Run run, Timeline timeline) {
    static Step of(long seed) {
      SplittableRandom random = new SplittableRandom(seed);
      StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 8)), 12);
      int devices = costs.workload().cluster().size();
      int stages = random.nextInt(1, Math.min(costs.size(), devices) + 1);
      int microBatches = random.nextInt(1, 13);
      PipelinePolicy policy =
          List.of(PipelinePolicy.A, PipelinePolicy.B, PipelinePolicy.ALL).get(random.nextInt(3));
      int[] inFlight = policy.inFlight(stages, microBatches);
      List<StagePlan> list = new ArrayList<>();
      for (int s = 0; s < stages; s++) {
        int last = s == stages - 1 ? costs.size() - 1 : s;
        Recompute recompute = random.nextBoolean() ? Recompute.NONE : Recompute.STAGE_INPUT;
        list.add(new StagePlan(s, last, List.of(s), recompute, inFlight[s]));
      }
      PipelinePlan plan = new PipelinePlan(policy, microBatches, 1, 1, false, list);
      Assessment priced = new PipelineOracle(costs, new PathFormula()).assess(plan);
      Run run = SimulatedOracle.run(plan, priced);
      return new Step(plan, priced, run, recorded(plan, priced, run));
    }

    Lane.Compute compute(int stage) {
      return timeline.compute().get(stage);
    }

    /** The transfer of a micro-batch from a stage to a neighbour. */
    Slice transfer(int from, int to, int microBatch) {
      return timeline.lanes().stream()
          .filter(lane -> lane instanceof Lane.Link link && link.from() == from && link.to() == to)
          .flatMap(lane -> lane.slices().stream())
          .filter(slice -> slice.microBatch() == microBatch)
          .findFirst()
          .orElseThrow();
    }
  }

  private static Timeline recorded(PipelinePlan plan, Assessment priced, Run run) {
    return PlanTimeline.of(plan, priced, run, PlanMemory.of(priced.stages(), run));
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void memoryPeaksAtWhatTheAssessmentSays(RepetitionInfo seed) {
    Step step = Step.of(seed.getCurrentRepetition());
    for (int s = 0; s < step.plan.stages().size(); s++) {
      StageMemory priced = step.priced.stages().get(s).memory();
      Memory memory = step.timeline.memory().get(s);
      assertEquals(priced.peakBytes(), memory.peak(), 1e-6 * (1 + priced.peakBytes()));
      assertEquals(priced.staticBytes(), memory.bytes()[0]);
      double end = memory.bytes()[memory.bytes().length - 1];
      assertEquals(priced.staticBytes(), end, 1e-6 * (1 + priced.peakBytes()));
      for (int i = 1; i < memory.seconds().length; i++) {
        assertTrue(memory.seconds()[i] >= memory.seconds()[i - 1] - DUST);
      }
    }
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void noMoreMicroBatchesAreInFlightThanDeclaredAndAsManyAreAtSomeTime(RepetitionInfo seed) {
    Step step = Step.of(seed.getCurrentRepetition());
    for (StagePlan stage : step.plan.stages()) {
      int s = step.plan.stages().indexOf(stage);
      int held = 0;
      int most = 0;
      for (Slice slice : step.compute(s).slices()) {
        held += slice.kind() == Kind.FORWARD ? 1 : slice.kind() == Kind.BACKWARD ? -1 : 0;
        most = Math.max(most, held);
      }
      assertEquals(stage.inFlight(), most);
      assertEquals(0, held);
    }
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void aLaneDoesOneThingAtATime(RepetitionInfo seed) {
    Step step = Step.of(seed.getCurrentRepetition());
    assertEquals(3 * step.plan.stages().size() - 2, step.timeline.lanes().size());
    for (Lane lane : step.timeline.lanes()) {
      double free = 0;
      for (Slice slice : lane.slices()) {
        assertTrue(slice.start() >= free - DUST, () -> slice + " overlaps in " + lane);
        assertTrue(slice.end() >= slice.start());
        free = slice.end();
      }
      assertTrue(free <= step.timeline.stepSeconds() + DUST);
    }
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void theStepEndsWithTheLastSlice(RepetitionInfo seed) {
    Step step = Step.of(seed.getCurrentRepetition());
    double end = 0;
    for (Lane lane : step.timeline.lanes()) {
      for (Slice slice : lane.slices()) {
        end = Math.max(end, slice.end());
      }
    }
    assertEquals(end, step.timeline.stepSeconds(), DUST);
    assertEquals(step.run.makespan(), step.timeline.stepSeconds());
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void flowsLeadFromTheEndOfAPassToTheStartOfTheNext(RepetitionInfo seed) {
    Step step = Step.of(seed.getCurrentRepetition());
    int neighbours = step.plan.stages().size() - 1;
    assertEquals(2 * neighbours * step.plan.microBatches(), step.timeline.flows().size());
    for (Flow flow : step.timeline.flows()) {
      boolean forward = flow.content() == Content.ACTIVATIONS;
      assertEquals(flow.from() + (forward ? 1 : -1), flow.to());
      Slice producer = step.compute(flow.from()).slices().get(flow.fromSlice());
      Slice consumer = step.compute(flow.to()).slices().get(flow.toSlice());
      assertEquals(forward ? Kind.FORWARD : Kind.BACKWARD, producer.kind());
      assertEquals(producer.kind(), consumer.kind());
      assertEquals(producer.microBatch(), consumer.microBatch());
      Slice transfer = step.transfer(flow.from(), flow.to(), producer.microBatch());
      assertTrue(transfer.start() >= producer.end() - DUST);
      assertTrue(transfer.end() >= transfer.start());
      assertTrue(consumer.start() >= transfer.end() - DUST);
      var stage = step.priced.stages().get(Math.min(flow.from(), flow.to()));
      double seconds = forward ? stage.sendSeconds() : stage.returnSeconds();
      assertEquals(seconds, transfer.seconds(), DUST);
    }
  }

  @RepeatedTest(value = 50, name = SEEDED)
  void idleIsWhatPassesLeaveOfTheStep(RepetitionInfo seed) {
    Step step = Step.of(seed.getCurrentRepetition());
    for (int s = 0; s < step.plan.stages().size(); s++) {
      var cost = step.priced.stages().get(s);
      double busy = step.plan.microBatches() * (cost.forwardSeconds() + cost.backwardSeconds());
      assertEquals(1 - busy / step.run.makespan(), step.timeline.idleShare(s), DUST);
    }
  }

  @RepeatedTest(value = 50, name = SEEDED)
  void whatCommunicationStretchesIsIdleToo(RepetitionInfo seed) {
    Step step = Step.of(seed.getCurrentRepetition());
    List<StageCost> stages = step.priced.stages();
    Run slow =
        new SimulatedOracle(plan -> step.priced, SimulatedOracle.USUAL.withSlowdown(1.5))
            .simulate(step.plan, step.priced);
    Timeline timeline = recorded(step.plan, step.priced, slow);
    double busiest = 0;
    double longest = 0;
    for (int s = 0; s < stages.size(); s++) {
      StageCost cost = stages.get(s);
      double busy = step.plan.microBatches() * (cost.forwardSeconds() + cost.backwardSeconds());
      assertEquals(1 - busy / slow.makespan(), timeline.idleShare(s), DUST);
      busiest = Math.max(busiest, busy);
      int passes = 2 * step.plan.microBatches();
      longest = Math.max(longest, slow.end(s, passes - 1) - slow.start(s, 0));
    }
    assertEquals(1 - busiest / longest, timeline.spanIdleShare(), DUST);
  }

  private static List<Schedule> schedules() {
    return List.of(
        OneForwardOneBackward.of(4, 8),
        ZeroBubbleH1.of(4, 8),
        DualPipeV.of(4, 10),
        Interleaved.of(4, 3, 8),
        Chimera.of(4, 8));
  }

  @Test
  void aScheduleHoldsWhatItsRunCounts() {
    for (Schedule schedule : schedules()) {
      int chunks = Math.max(1, schedule.placement().depth() / schedule.ranks());
      Run run = StaticSimulator.run(schedule, OpTimes.equal(schedule.stages(), 1, 1, 1, 0.5));
      Timeline timeline = Recorder.timeline(run, MemoryCap.NONE, chunks);
      int[] peaks = run.peakActivations();
      for (Memory memory : timeline.memory()) {
        assertEquals((double) peaks[memory.rank()] / chunks, memory.peak(), DUST);
        assertEquals(0, memory.bytes()[memory.bytes().length - 1], DUST);
      }
      assertEquals(run.idleShare(), timeline.idleShare(), DUST);
      assertEquals(run.spanIdleShare(), timeline.spanIdleShare(), DUST);
    }
  }

  @Test
  void everyPassButTheFirstStagesHasAFlowThatEndsBeforeIt() {
    for (Schedule schedule : schedules()) {
      Run run = StaticSimulator.run(schedule, OpTimes.equal(schedule.stages(), 1, 1, 1, 0.5));
      Timeline timeline = Recorder.timeline(run, MemoryCap.NONE, 1);
      int crossing = 0;
      for (int stage = 0; stage < schedule.stages(); stage++) {
        boolean last = schedule.placement().last(stage);
        boolean moves =
            !last && schedule.placement().rankOf(stage) != schedule.placement().rankOf(stage + 1);
        crossing += moves ? 2 * schedule.microBatches() : 0; // there and back
      }
      assertEquals(crossing, timeline.flows().size(), schedule.name());
      for (Flow flow : timeline.flows()) {
        Slice from = timeline.compute().get(flow.from()).slices().get(flow.fromSlice());
        Slice to = timeline.compute().get(flow.to()).slices().get(flow.toSlice());
        assertTrue(to.start() >= from.end() + 0.5 - DUST, () -> from + " to " + to);
        int further = flow.content() == Content.ACTIVATIONS ? 1 : -1;
        assertEquals(from.stage() + further, to.stage());
        assertEquals(from.microBatch(), to.microBatch());
      }
    }
  }
}
