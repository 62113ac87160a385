package dev.pipewright.planner.madpipe;

import dev.pipewright.planner.madpipe.PlacedPattern.Placed;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.planner.recompute.TradeOffs.Choice;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.periodic.Discipline;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
    loads = PlacedPattern.loads(problem.chain(), stages);
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
        stages.add(placed(problem, first, end, numbers[device]));
        first = end;
      }
    }
    return new Allocation(problem, List.copyOf(stages));
  }

  private static Placed placed(PeriodicProblem problem, int first, int end, int device) {
    Optional<Choice> fewer = Optional.empty();
    if (problem.recomputation() == Recomputation.ALWAYS) {
      fewer = problem.tradeOffs().choice(first, end, 1, Double.POSITIVE_INFINITY);
    }
    return new Placed(first, end, device, fewer);
  }

  /** The same layers on the same devices, others of which run again. */
  Allocation with(List<Placed> others) {
    return new Allocation(problem, List.copyOf(others));
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

  /** Whether the device of a stage, transfers not counted, has others. */
  boolean shares(int stage) {
    int device = stages.get(stage).device();
    return stages.stream().filter(other -> other.device() == device).count() > 1;
  }

  /** Seconds that the busiest device or link takes for a batch. */
  double busiest() {
    double[] busy = new double[rankCount()];
    for (int stage = 0; stage < ranks.length; stage++) {
      busy[ranks[stage]] += loads.get(stage).seconds();
    }
    return Arrays.stream(busy).max().orElse(0);
  }

  /**
   * Seconds between batches that no pattern of one batch is below: what the busiest device or link
   * takes, and what the least memory asks for.
   */
  double leastPeriod(Discipline discipline) {
    double low = busiest();
    double all = 0;
    for (StageLoad load : loads) {
      all += load.seconds();
    }
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

  private boolean mayFit(Discipline discipline, double period) {
    double[] bytes = new double[problem.devices()];
    int[] held = held(discipline, period);
    for (int stage = held.length - 1; stage >= 0; stage--) {
      StageLoad load = loads.get(2 * stage);
      bytes[stages.get(stage).device()] += load.stateBytes() + held[stage] * load.activationBytes();
    }
    return Arrays.stream(bytes).allMatch(sum -> sum <= problem.capacityBytes());
  }

  /**
   * The batches of each stage's group, transfers not counted: no stage holds fewer, wherever stages
   * are (theorem 3 asks of a stage's passes only that they do not overlap each other).
   */
  int[] held(Discipline discipline, double period) {
    int[] held = new int[stages.size()];
    int group = 1;
    double seconds = 0;
    for (int stage = ranks.length - 1; stage >= 0; stage--) {
      seconds += loads.get(stage).seconds();
      if (seconds > period) {
        group++;
        seconds = loads.get(stage).seconds();
      }
      if (stage % 2 == 0) {
        held[stage / 2] = discipline.held(group, (ranks.length - stage + 1) / 2);
      }
    }
    return held;
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
