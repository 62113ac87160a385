package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.units.Bytes;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** No pipeline that fits is faster than the bounds that take longer say. */
class ThoroughBoundsTest {
  private static final int INSTANCES = 400;
  private static final int BATCH = 8;
  private static final double ROUNDING = 1e-9;
  private static final double NO_LIMIT = Double.POSITIVE_INFINITY;

  private final CountedSchedules counted = new CountedSchedules();
  private int compared;
  private int higher;
  private int near;

  /** Two to four devices, half of them with too little memory, one schedule after another. */
  @Test
  void noPipelineIsFaster() {
    List<Choice> choices = AutoPlanner.choices(Request.of(BATCH));
    for (int instance = 0; instance < INSTANCES; instance++) {
      SplittableRandom random = new SplittableRandom(7000 + instance);
      StageCosts any = SmallPipelines.costs(random);
      StageCosts costs = random.nextBoolean() ? SmallPipelines.tight(any, random) : any;
      Recomputation[] all = Recomputation.values();
      Recomputation recomputation = all[random.nextInt(all.length)];
      for (int trial = 0; trial < 6; trial++) {
        Choice choice = choices.get(random.nextInt(choices.size()));
        int devices = costs.workload().cluster().size();
        int ranks = random.nextInt(3) > 0 ? devices : 2;
        int replicas = devices / ranks;
        int samples = replicas << random.nextInt(4 - replicas / 2);
        ZeroStage states = random.nextBoolean() ? ZeroStage.OPTIMIZER : ZeroStage.NOTHING;
        Grid grid =
            new Grid(
                ranks,
                replicas,
                Parallelism.NONE,
                random.nextBoolean() ? Arrangement.BY_RANK : Arrangement.BY_PIPELINE,
                choice.chunks(),
                replicas > 1 ? states : ZeroStage.NOTHING);
        MicroBatching batching = new MicroBatching(1, samples, BATCH / samples);
        holds(costs, choice, grid, batching, recomputation, "instance " + instance);
      }
    }
    assertTrue(compared > 500, "compared " + compared);
    assertTrue(higher > compared / 6, higher + " of " + compared + " higher than the quick bounds");
    assertTrue(near > compared / 20, "within 2 %: " + near);
  }

  /** Layers that devices divide, on two machines, with sharded optimizer states. */
  @Test
  void noPipelineOfATransformerIsFaster() {
    List<Choice> choices = AutoPlanner.choices(Request.of(2 * BATCH));
    for (int instance = 0; instance < 60; instance++) {
      SplittableRandom random = new SplittableRandom(8000 + instance);
      String network =
          "gpt:layers=%d,hidden=%d,heads=8,sequence=%d,vocabulary=%d"
              .formatted(
                  random.nextInt(6, 15),
                  256 << random.nextInt(3),
                  128 << random.nextInt(3),
                  1024 << random.nextInt(6));
      StageCosts any = AutoPlannerTest.zoo(network, "dgx-h100:2x4");
      StageCosts costs = random.nextBoolean() ? scarce(any, random) : any;
      for (int trial = 0; trial < 6; trial++) {
        Choice choice = choices.get(random.nextInt(choices.size()));
        int parts = 1 << random.nextInt(2);
        int ranks = 2 << random.nextInt(2);
        int replicas = 8 / parts / ranks;
        int samples = Math.max(replicas, 1 << random.nextInt(4));
        Parallelism parallelism =
            parts == 1 ? Parallelism.NONE : Parallelism.of(Kind.SEQUENCE, parts);
        Grid plain =
            new Grid(
                ranks,
                replicas,
                parallelism,
                random.nextBoolean() ? Arrangement.BY_RANK : Arrangement.BY_PIPELINE,
                choice.chunks(),
                ZeroStage.NOTHING);
        Grid grid = plain.sums() ? plain.sharding(ZeroStage.OPTIMIZER) : plain;
        MicroBatching batching = new MicroBatching(1, samples, 2 * BATCH / samples);
        holds(costs, choice, grid, batching, Recomputation.SELECTIVE, network + " " + instance);
      }
    }
    assertTrue(compared > 100, "compared " + compared);
    assertTrue(higher > compared / 3, higher + " of " + compared + " higher than the quick bounds");
  }

  /** Room for some of the states and of what is kept. */
  private static StageCosts scarce(StageCosts any, SplittableRandom random) {
    Workload of = any.workload();
    double states = any.staticBytes(0, any.size());
    double kept = any.heldBytes(0, any.size(), BATCH);
    Bytes memory = Bytes.of(states / 2 + kept * random.nextDouble(0.02, 0.5));
    return new StageCosts(
        new Workload(of.chain(), of.profile(), of.training(), of.cluster().withMemory(memory)));
  }

  private void holds(
      StageCosts costs,
      Choice choice,
      Grid grid,
      MicroBatching batching,
      Recomputation recomputation,
      String instance) {
    PipelineBounds bounds = SmallPipelines.bounds(costs, grid.parallelism(), recomputation);
    ScheduleShape shape = ScheduleShape.of(choice);
    CountedSchedules.Facts facts = counted.of(choice, grid.ranks(), batching.microBatches());
    boolean folded = LeastStep.isFolded(choice);
    PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
    List<ScheduledCuts> cuts =
        SmallPipelines.cuts(choice, grid, batching, costs, recomputation, oracle);
    if (!facts.suits()) {
      assertEquals(List.of(), cuts, instance);
      return;
    }
    double bound = bounds.thorough(grid, batching, shape, facts, folded, NO_LIMIT);
    double quick = bounds.seconds(grid, batching, shape);
    for (ScheduledCuts each : cuts) {
      String what = instance + " " + choice.entry().name() + " " + grid + " " + batching;
      for (boolean other : new boolean[] {false, true}) {
        PipelinePlan plan = each.plan();
        check(
            other ? plan.overlapping(!plan.overlapGradients()) : plan, bound, quick, oracle, what);
      }
    }
  }

  private void check(
      PipelinePlan plan, double bound, double quick, PipelineOracle oracle, String what) {
    var estimate = oracle.assess(plan);
    if (!estimate.fits()) {
      return;
    }
    double simulated = new SimulatedOracle(oracle).assess(plan).stepSeconds();
    double least = Math.min(estimate.stepSeconds(), simulated);
    assertTrue(
        quick <= least * (1 + ROUNDING), () -> what + ": " + quick + " > " + least + " of " + plan);
    assertTrue(
        bound <= simulated * (1 + ROUNDING),
        () -> what + ": " + bound + " > " + simulated + " of " + plan);
    compared++;
    higher += bound > quick * (1 + ROUNDING) ? 1 : 0;
    near += Math.max(bound, quick) > 0.98 * simulated ? 1 : 0;
  }
}
