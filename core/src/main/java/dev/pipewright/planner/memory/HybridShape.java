package dev.pipewright.planner.memory;

import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineFormula;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Plan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.memory.HybridPlan.Stage;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.planner.recompute.TradeOffs.Choice;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;

/**
 * A {@link HybridPlan} that nobody has priced yet: what a file says of one.
 *
 * @param plan the layers and devices of each stage, and the order of work
 * @param degrees of each stage, whose devices are consecutive
 */
public record HybridShape(Plan plan, List<Degrees> degrees) {
  public HybridShape {
    degrees = List.copyOf(degrees);
    Check.that(
        degrees.size() == plan.stages().size(),
        "each stage has degrees: stages=%d, degrees=%d",
        plan.stages().size(),
        degrees.size());
    Check.that(
        plan.replicas() == 1 && !plan.overlapGradients(),
        "a plan that divides tensors has one pipeline and reduces gradients at the end:"
            + " replicas=%d, overlap_allreduce=%s",
        plan.replicas(),
        plan.overlapGradients());
    for (int s = 0; s < degrees.size(); s++) {
      check(s, plan.stages().get(s).devices(), degrees.get(s), plan.microBatch());
    }
  }

  private static void check(int stage, List<Integer> devices, Degrees degrees, int samples) {
    Check.that(
        degrees.devices() == devices.size(),
        "stages[%d] has %d devices, but data %d times tensor %d makes %d; make them agree",
        stage,
        devices.size(),
        degrees.data(),
        degrees.tensor(),
        degrees.devices());
    Check.that(
        degrees.data() <= samples,
        "stages[%d].data is %d, but a micro-batch has %d samples to share; take at most as many",
        stage,
        degrees.data(),
        samples);
    for (int i = 1; i < devices.size(); i++) {
      Check.that(
          devices.get(i) == devices.get(i - 1) + 1,
          "stages[%d].devices names %d behind %d; devices that divide tensors follow each other",
          stage,
          devices.get(i),
          devices.get(i - 1));
    }
  }

  /** Of a plan, without its prices. */
  public static HybridShape of(HybridPlan priced) {
    List<StagePlan> stages = new ArrayList<>();
    List<Degrees> degrees = new ArrayList<>();
    for (Stage stage : priced.stages()) {
      stages.add(
          stage(
              stage.firstLayer(),
              stage.lastLayer(),
              stage.devices(),
              stage.inFlight(),
              stage.again()));
      degrees.add(stage.degrees());
    }
    return new HybridShape(
        new Plan(priced.policy(), priced.microBatches(), priced.microBatch(), 1, false, stages),
        degrees);
  }

  /**
   * A stage as plans describe it.
   *
   * @param again the layers that run again
   */
  static StagePlan stage(
      int first, int last, List<Integer> devices, int inFlight, List<LayerRange> again) {
    StagePlan kept = new StagePlan(first, last, devices, Recompute.NONE, inFlight);
    return again.equals(List.of(new LayerRange(first, last)))
        ? new StagePlan(first, last, devices, Recompute.STAGE_INPUT, inFlight)
        : kept.selective(again);
  }

  /** With what {@link HybridCosts} says; throws where a stage is none of the network. */
  public HybridPlan priced(StageCosts network) {
    return priced(new HybridCosts(Blocks.chain(network)));
  }

  HybridPlan priced(HybridCosts prices) {
    PipelineFormula formula = new PathFormula();
    double[] label = new double[formula.width()];
    formula.nothing(label, 0);
    List<Stage> made = new ArrayList<>();
    int last = degrees.size() - 1;
    for (int s = last; s >= 0; s--) {
      StagePlan stage = plan.stages().get(s);
      StageCost cost = cost(prices, s);
      if (s < last) {
        formula.transfer(
            label, 0, cost.sendSeconds(), cost.returnSeconds(), plan.microBatches(), 0);
      }
      formula.stage(
          label,
          0,
          cost.forwardSeconds(),
          cost.backwardSeconds(),
          cost.exposedAllReduceSeconds() + cost.updateSeconds(),
          plan.microBatches(),
          stage.inFlight(),
          0);
      made.add(
          0,
          new Stage(
              stage.firstLayer(),
              stage.lastLayer(),
              stage.devices(),
              degrees.get(s),
              stage.inFlight(),
              cost,
              again(stage)));
    }
    double seconds = formula.seconds(label, 0);
    return new HybridPlan(plan.policy(), plan.microBatches(), plan.microBatch(), made, seconds);
  }

  /** In layers. */
  private static List<LayerRange> again(StagePlan stage) {
    return stage.recompute() == Recompute.STAGE_INPUT
        ? List.of(new LayerRange(stage.firstLayer(), stage.lastLayer()))
        : stage.again();
  }

  private StageCost cost(HybridCosts prices, int s) {
    StagePlan stage = plan.stages().get(s);
    Transfer toNext =
        s == degrees.size() - 1
            ? Transfer.NONE
            : Transfer.between(
                prices,
                groups(prices, s),
                degrees.get(s),
                groups(prices, s + 1),
                degrees.get(s + 1),
                plan.microBatch());
    int first = position(prices.costs(), stage.firstLayer());
    int end = position(prices.costs(), stage.lastLayer() + 1);
    int device = stage.devices().get(0);
    List<LayerRange> positions =
        again(stage).stream()
            .map(run ->
                new LayerRange(
                    position(prices.costs(), run.first()),
                    position(prices.costs(), run.last() + 1) - 1))
            .toList();
    Choice fewer =
        new HybridRecomputation(prices, Recomputation.SELECTIVE)
            .given(first, end, device, degrees.get(s), plan.microBatch(), positions);
    return prices.stage(
        first, end, device, degrees.get(s), plan.microBatch(), stage.inFlight(), fewer, toNext);
  }

  private HybridCosts.Groups groups(HybridCosts prices, int s) {
    return prices.groups(plan.stages().get(s).devices().get(0), degrees.get(s));
  }

  private static int position(StageCosts costs, int layer) {
    for (int position = 0; position <= costs.size(); position++) {
      if (costs.inChain(position) == layer) {
        return position;
      }
    }
    throw new IllegalArgumentException(
        "a stage begins or ends at %d, where branches run side by side or there is no layer; begin it elsewhere"
            .formatted(layer));
  }
}
