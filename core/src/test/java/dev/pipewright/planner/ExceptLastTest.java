package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.PlanMemory;
import dev.pipewright.cost.PlanTimeline;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Recomputed;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.trace.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

/** Recomputation of all micro-batches but a step's last one, in estimate, simulation and memory. */
class ExceptLastTest {
  private static final double SAME = 1e-9;

  private final int stages;
  private final StageCosts costs;
  private final PipelinePolicy policy;
  private final int microBatches;

  ExceptLastTest(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    stages = random.nextInt(1, 4);
    microBatches = random.nextInt(1, 7);
    policy = List.of(PipelinePolicy.A, PipelinePolicy.B, PipelinePolicy.ALL).get(random.nextInt(3));
    costs = Samples.costs(random, Samples.chain(stages + random.nextInt(4)), 4);
  }

  /** A device for each stage, as far as there are devices. */
  private PipelinePlan plan(Recompute recompute) {
    int count = Math.min(stages, costs.workload().cluster().size());
    List<StagePlan> list = new ArrayList<>();
    for (int s = 0; s < count; s++) {
      int last = s == count - 1 ? costs.size() - 1 : s;
      int inFlight = policy.inFlightOf(count - 1 - s, microBatches);
      list.add(new StagePlan(s, last, List.of(s), recompute, inFlight));
    }
    return new PipelinePlan(policy, microBatches, 2, 1, false, list);
  }

  private Assessment priced(Recompute recompute) {
    return CostModel.PIPEWRIGHT.oracle(costs).assess(plan(recompute));
  }

  private Run run(Recompute recompute) {
    return SimulatedOracle.run(plan(recompute), priced(recompute));
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void onlyTheBackwardPassOfTheLastMicroBatchIsAsShortAsWithoutRecomputation() {
    Run none = run(Recompute.NONE);
    Run all = run(Recompute.STAGE_INPUT);
    Run last = run(Recompute.EXCEPT_LAST);
    for (int stage = 0; stage < last.schedule().ranks(); stage++) {
      long[] program = last.schedule().packed(stage);
      for (int i = 0; i < program.length; i++) {
        boolean kept =
            Schedule.pass(program[i]) != Pass.BACKWARD
                || Schedule.microBatch(program[i]) == microBatches - 1;
        Run like = kept ? none : all;
        double seconds = like.end(stage, i) - like.start(stage, i);
        assertEquals(seconds, last.end(stage, i) - last.start(stage, i), SAME);
      }
    }
    assertTrue(none.makespan() <= last.makespan() + SAME);
    assertTrue(last.makespan() <= all.makespan() + SAME);
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void theEstimateIsNoLongerThanTheStep() {
    double estimate = priced(Recompute.EXCEPT_LAST).stepSeconds();
    assertTrue(estimate <= run(Recompute.EXCEPT_LAST).makespan() * (1 + SAME));
    assertTrue(estimate <= priced(Recompute.STAGE_INPUT).stepSeconds() * (1 + SAME));
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void memoryIsTheSameInTheEstimateTheTimelineAndByCategory() {
    Assessment priced = priced(Recompute.EXCEPT_LAST);
    Run run = run(Recompute.EXCEPT_LAST);
    var categories = PlanMemory.of(priced.stages(), run);
    Timeline timeline = PlanTimeline.of(plan(Recompute.EXCEPT_LAST), priced, run, categories);
    for (int s = 0; s < priced.stages().size(); s++) {
      double counted = priced.stages().get(s).memory().peakBytes();
      assertEquals(counted, timeline.memory().get(s).peak(), SAME * counted);
      assertEquals(counted, categories.get(s).peak().bytes(), SAME * counted);
      double all = priced(Recompute.STAGE_INPUT).stages().get(s).memory().peakBytes();
      double none = priced(Recompute.NONE).stages().get(s).memory().peakBytes();
      assertTrue(all <= counted * (1 + SAME), all + " above " + counted);
      boolean few = Math.min(microBatches, plan(Recompute.NONE).inFlight()[s]) <= 2;
      assertTrue(!few || counted <= none * (1 + SAME), counted + " above " + none);
    }
  }

  /** The schedule with another forward pass before each backward pass but the last one's. */
  @RepeatedTest(value = 50, name = "seed {currentRepetition}")
  void aStepWithoutTransfersTakesAsLongAsWithForwardPassesOfTheirOwn() {
    Assessment kept = priced(Recompute.NONE);
    double[] forward =
        kept.stages().stream().mapToDouble(stage -> stage.forwardSeconds()).toArray();
    double[] backward =
        kept.stages().stream().mapToDouble(stage -> stage.backwardSeconds()).toArray();
    double[] none = new double[forward.length];
    OpTimes times = OpTimes.whole(forward, backward, none, none);
    Recomputed.Selector others = (stage, microBatch) -> microBatch < microBatches - 1;
    Schedule schedule = plan(Recompute.EXCEPT_LAST).schedule();
    double within = StaticSimulator.run(schedule, times.withRecomputed(others)).makespan();
    double apart = StaticSimulator.run(Recomputed.of(schedule, others), times).makespan();
    assertTrue(apart <= within + SAME, "waiting for a gradient leaves time to compute again");
    assertTrue(microBatches > 1 || apart == within);
  }
}
