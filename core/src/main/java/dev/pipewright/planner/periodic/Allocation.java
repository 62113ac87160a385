package dev.pipewright.planner.periodic;

import dev.pipewright.planner.periodic.PeriodicPlan.Placed;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Stages on devices without a pattern yet. Transfers between the same two devices share a link,
 * whichever cuts they are for, so that what runs here also runs where each cut has its own.
 */
final class Allocation {
  private final PeriodicProblem problem;
  private final List<Placed> stages;
  private final List<StageLoad> loads; // with transfers
  private final int[] ranks; // by stage of those: devices, then links

  private Allocation(PeriodicProblem problem, List<Placed> stages) {
    this.problem = problem;
    this.stages = stages;
    loads = PeriodicPlan.loads(problem.chain(), stages);
    ranks = new int[loads.size()];
    Map<Long, Integer> links = new LinkedHashMap<>();
    for (int i = 0; i < ranks.length; i++) {
      if (i % 2 == 0) {
        ranks[i] = stages.get(i / 2).device();
      } else {
        int one = stages.get(i / 2).device();
        int other = stages.get(i / 2 + 1).device();
        long pair = (long) Math.min(one, other) * problem.devices() + Math.max(one, other);
        ranks[i] = links.computeIfAbsent(pair, key -> problem.devices() + links.size());
      }
    }
  }

  /** From the device of each layer; devices are numbered anew as the chain meets them. */
  static Allocation of(PeriodicProblem problem, int[] deviceOfLayer) {
    List<Placed> stages = new ArrayList<>();
    int[] numbers = new int[problem.devices()];
    Arrays.fill(numbers, -1);
    int met = 0;
    int first = 0;
    for (int end = 1; end <= deviceOfLayer.length; end++) {
      int device = deviceOfLayer[end - 1];
      if (end == deviceOfLayer.length || deviceOfLayer[end] != device) {
        if (numbers[device] < 0) {
          numbers[device] = met++;
        }
        stages.add(new Placed(first, end, numbers[device]));
        first = end;
      }
    }
    return new Allocation(problem, List.copyOf(stages));
  }

  PeriodicProblem problem() {
    return problem;
  }

  List<Placed> stages() {
    return stages;
  }

  /** The stages' costs with the transfers between them. */
  List<StageLoad> loads() {
    return loads;
  }

  /** The device of a stage, or the link of a transfer. */
  int rank(int stage) {
    return ranks[stage];
  }

  Placement placement() {
    int most = Math.max(problem.devices(), Arrays.stream(ranks).max().orElse(0) + 1);
    return Placement.of(most, 1, ranks);
  }

  int rankCount() {
    return placement().ranks();
  }

  /**
   * Seconds between batches that no pattern of one batch is below: what the busiest device or link
   * takes, and what the least memory asks for.
   */
  double leastPeriod(Discipline discipline) {
    double[] busy = new double[rankCount()];
    double all = 0;
    for (int stage = 0; stage < ranks.length; stage++) {
      busy[ranks[stage]] += loads.get(stage).seconds();
      all += loads.get(stage).seconds();
    }
    double low = Arrays.stream(busy).max().orElse(0);
    double high = Math.max(low, all * (1 + 1e-9));
    if (mayFit(discipline, low)) {
      return low;
    }
    if (!mayFit(discipline, high)) {
      return Double.POSITIVE_INFINITY;
    }
    for (int i = 0; i < 50; i++) {
      double middle = (low + high) / 2;
      if (mayFit(discipline, middle)) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high;
  }

  /**
   * Whether the groups' memory fits: no stage holds fewer than its group, wherever stages are
   * (theorem 3 asks of a stage's passes only that they do not overlap each other).
   */
  private boolean mayFit(Discipline discipline, double period) {
    double[] bytes = new double[problem.devices()];
    int group = 1;
    double seconds = 0;
    for (int stage = ranks.length - 1; stage >= 0; stage--) {
      StageLoad load = loads.get(stage);
      seconds += load.seconds();
      if (seconds > period) {
        group++;
        seconds = load.seconds();
      }
      if (stage % 2 == 0) {
        int held = discipline.held(group, (ranks.length - stage + 1) / 2);
        bytes[ranks[stage]] += load.stateBytes() + held * load.activationBytes();
      }
    }
    return Arrays.stream(bytes).allMatch(sum -> sum <= problem.capacityBytes());
  }

  /** The same for any two lists of stages. */
  @Override
  public boolean equals(Object that) {
    return that instanceof Allocation other && stages.equals(other.stages);
  }

  @Override
  public int hashCode() {
    return stages.hashCode();
  }
}
