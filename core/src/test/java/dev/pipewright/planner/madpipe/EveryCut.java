package dev.pipewright.planner.madpipe;

import dev.pipewright.cost.LayerCosts;
import dev.pipewright.cost.PartlyKept;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.planner.madpipe.PlacedPattern.Placed;
import dev.pipewright.planner.recompute.EveryChoice;
import dev.pipewright.planner.recompute.TradeOffs.Choice;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** The referee of contiguous plans: every way to cut a chain into stages. */
final class EveryCut {
  private EveryCut() {}

  /** The least value over all cuts, given the stages' loads with the transfers between them. */
  static double least(PeriodicProblem problem, ToDoubleFunction<List<StageLoad>> value) {
    return least(problem, 0, new ArrayList<>(), value);
  }

  private static double least(
      PeriodicProblem problem,
      int first,
      List<Placed> stages,
      ToDoubleFunction<List<StageLoad>> value) {
    if (first == problem.chain().layers()) {
      return problem.stages().orElse(stages.size()) == stages.size()
          ? value.applyAsDouble(PlacedPattern.loads(problem.chain(), stages))
          : Double.POSITIVE_INFINITY;
    }
    double least = Double.POSITIVE_INFINITY;
    for (int end = first + 1;
        end <= problem.chain().layers() && stages.size() < problem.devices();
        end++) {
      for (Placed placed : choices(problem, first, end, stages.size())) {
        List<Placed> more = new ArrayList<>(stages);
        more.add(placed);
        least = Math.min(least, least(problem, end, more, value));
      }
    }
    return least;
  }

  /** The stage with each choice of layers that may run again. */
  private static List<Placed> choices(PeriodicProblem problem, int first, int end, int device) {
    List<Placed> all = new ArrayList<>();
    LayerRange whole = new LayerRange(0, end - first - 1);
    EveryChoice.of(
        end - first,
        again -> {
          boolean allowed =
              switch (problem.recomputation()) {
                case NEVER -> again.isEmpty();
                case ALWAYS -> again.equals(List.of(whole));
                default -> true;
              };
          if (allowed) {
            PartlyKept kept = PartlyKept.of(costs(problem.chain(), first, end), again);
            Choice choice =
                new Choice(List.of(), kept.extraSeconds(), kept.heldBytes(), kept.workingBytes());
            all.add(new Placed(first, end, device, Optional.of(choice)));
          }
        });
    return all;
  }

  private static LayerCosts costs(LayerChain chain, int first, int end) {
    double[][] figures = new double[4][end - first];
    for (int i = 0; i < end - first; i++) {
      StageLoad alone = chain.stage(first + i, first + i + 1);
      figures[0][i] = alone.forwardSeconds();
      figures[1][i] = alone.backwardSeconds();
      figures[2][i] = chain.keptBytes(first + i);
      figures[3][i] = alone.activationBytes() - chain.keptBytes(first + i);
    }
    return new LayerCosts(figures[0], figures[1], figures[2], figures[3]);
  }

  /** All sums of consecutive stages, ascending: where groups change. */
  static double[] sums(List<StageLoad> stages) {
    List<Double> sums = new ArrayList<>();
    for (int last = 0; last < stages.size(); last++) {
      double seconds = 0;
      for (int stage = last; stage >= 0; stage--) {
        seconds += stages.get(stage).seconds();
        sums.add(seconds);
      }
    }
    double slowest = stages.stream().mapToDouble(StageLoad::seconds).max().orElseThrow();
    return sums.stream().mapToDouble(s -> s).filter(s -> s >= slowest).sorted().toArray();
  }
}
