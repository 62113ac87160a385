package dev.pipewright.planner;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.StepEnd;
import java.util.Arrays;
import java.util.BitSet;

/**
 * What the order of work of a schedule says of any step, whatever its stages take: sums over its
 * ranks, by stage of a chain.
 *
 * <p>A rank begins with a stage when the first micro-batch has passed the stages before, runs all
 * its ops from then on, and its last op has a tail: a whole backward pass is followed by those of
 * all stages before it and by the first stage's sum of gradients; a weights' gradient by the sum of
 * its own stage. These are seconds that each rank's step takes at least.
 *
 * @param folds ranks that have the same two stages, where the stages go there and back over the
 *     ranks; 0 where they do not
 * @param inFlight micro-batches when the backward pass starts before which the rank has most
 * @param forward passes
 * @param inputs gradients of inputs, also those within whole backward passes
 * @param weights gradients of weights, likewise
 * @param sums of gradients that nothing can hide
 * @param last those of them after which the rank's device has nothing to compute, in the order in
 *     which it waits for sums
 * @param whole those of them that follow a whole backward pass, not a weights' gradient
 * @param exchanges of all stages of a rank that follow each other from its first sum on
 * @param sends messages by sending and receiving rank
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record WorkOrder(
    int folds,
    int[] inFlight,
    double[] forward,
    double[] inputs,
    double[] weights,
    double[] sums,
    double[] last,
    double[] whole,
    double[] exchanges,
    double[][] sends) {

  private WorkOrder(int folds, int depth, int ranks) {
    this(
        folds,
        new int[depth],
        new double[depth],
        new double[depth],
        new double[depth],
        new double[depth],
        new double[depth],
        new double[depth],
        new double[depth],
        new double[ranks][ranks]);
  }

  /** A part of this and the rest of another one: since both hold for a step, so does this. */
  WorkOrder mixed(double part, WorkOrder other) {
    double[][] both = new double[sends.length][];
    Arrays.setAll(both, rank -> mixed(part, sends[rank], other.sends[rank]));
    return new WorkOrder(
        folds,
        inFlight,
        mixed(part, forward, other.forward),
        mixed(part, inputs, other.inputs),
        mixed(part, weights, other.weights),
        mixed(part, sums, other.sums),
        mixed(part, last, other.last),
        mixed(part, whole, other.whole),
        mixed(part, exchanges, other.exchanges),
        both);
  }

  private static double[] mixed(double part, double[] one, double[] other) {
    double[] mixed = new double[one.length];
    Arrays.setAll(mixed, at -> part * one[at] + (1 - part) * other[at]);
    return mixed;
  }

  /** From the first op of each rank on. */
  static WorkOrder of(Schedule schedule) {
    return of(schedule, false);
  }

  /** From the first op of each rank on, and the sum of the stage that its last op is of. */
  static WorkOrder toOwnSums(Schedule schedule) {
    return of(schedule, true);
  }

  private static WorkOrder of(Schedule schedule, boolean toOwnSums) {
    WorkOrder order = empty(schedule);
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      if (program.length > 0) {
        long last = program[program.length - 1];
        order.count(program, 0, program.length, schedule);
        if (toOwnSums) {
          order.countSum(Schedule.stage(last), Schedule.pass(last), schedule);
        } else {
          order.countTail(program, schedule);
        }
      }
    }
    return order;
  }

  /** From the first op of each rank's last stage on. */
  static WorkOrder ofLastStages(Schedule schedule) {
    WorkOrder order = empty(schedule);
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      if (program.length > 0) {
        order.count(program, lastStage(program), program.length, schedule);
        order.countTail(program, schedule);
      }
    }
    return order;
  }

  /** From the first op of each rank to its first sum of gradients; then it sums all. */
  static WorkOrder toFirstSums(Schedule schedule) {
    WorkOrder order = empty(schedule);
    Schedule ended = StepEnd.of(schedule);
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = ended.packed(rank);
      int first = 0;
      while (first < program.length && Schedule.pass(program[first]) != Pass.REDUCE) {
        first++;
      }
      if (first < program.length) {
        order.count(program, 0, first, schedule);
      }
      for (int at = first; at < program.length; at++) {
        boolean sums = Schedule.pass(program[at]) == Pass.REDUCE;
        order.exchanges[Schedule.stage(program[at]) % order.stages()] += sums ? 1 : 0;
      }
    }
    return order;
  }

  private static WorkOrder empty(Schedule schedule) {
    Placement placement = schedule.placement();
    WorkOrder order = new WorkOrder(folds(placement), placement.depth(), schedule.ranks());
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      order.countInFlight(schedule.packed(rank));
    }
    return order;
  }

  private static int folds(Placement placement) {
    int ranks = placement.ranks();
    if (placement.equals(Placement.waves(ranks, 2))) {
      return 1;
    }
    return ranks % 2 == 0 && placement.equals(Placement.bothWays(ranks)) ? 2 : 0;
  }

  /** Where the last stage of a rank begins; of two directions that which begins later. */
  private static int lastStage(long[] program) {
    int from = 0;
    BitSet begun = new BitSet();
    for (int at = 0; at < program.length; at++) {
      if (!begun.get(Schedule.stage(program[at]))) {
        begun.set(Schedule.stage(program[at]));
        from = at;
      }
    }
    return from;
  }

  int stages() {
    return forward.length;
  }

  private void countInFlight(long[] program) {
    int[] now = new int[stages()];
    int[] most = new int[stages()];
    int count = 0;
    int highest = 0;
    for (long op : program) {
      Pass pass = Schedule.pass(op);
      int stage = Schedule.stage(op) % stages();
      if (pass == Pass.FORWARD) {
        now[stage]++;
        count++;
      } else if (count > highest) {
        highest = count;
        most = now.clone();
      }
      if (pass.releases()) {
        now[stage]--;
        count--;
      }
    }
    for (int stage = 0; stage < most.length; stage++) {
      inFlight[stage] += most[stage];
    }
  }

  private void count(long[] program, int from, int end, Schedule schedule) {
    Placement placement = schedule.placement();
    for (int at = from; at < end; at++) {
      long op = program[at];
      Pass pass = Schedule.pass(op);
      int stage = Schedule.stage(op) % stages();
      forward[stage] += pass == Pass.FORWARD ? 1 : 0;
      inputs[stage] += pass == Pass.BACKWARD || pass == Pass.BACKWARD_INPUT ? 1 : 0;
      weights[stage] += pass.releases() ? 1 : 0;
    }
    int stage = Schedule.stage(program[from]); // its first op is a forward pass
    for (int before = stage - 1; chain(before) == chain(stage); before--) {
      forward[before % stages()]++;
      sends[placement.rankOf(before)][placement.rankOf(before + 1)]++;
    }
  }

  private int chain(int stage) {
    return Math.floorDiv(stage, stages());
  }

  private void countTail(long[] program, Schedule schedule) {
    long op = program[program.length - 1];
    Placement placement = schedule.placement();
    int stage = Schedule.stage(op);
    if (Schedule.pass(op) == Pass.BACKWARD) {
      for (int before = stage - 1; chain(before) == chain(stage); before--) {
        inputs[before % stages()]++;
        weights[before % stages()]++;
        sends[placement.rankOf(before + 1)][placement.rankOf(before)]++;
      }
      stage = chain(stage) * stages();
    }
    countSum(stage, Schedule.pass(op), schedule);
  }

  private void countSum(int stage, Pass after, Schedule schedule) {
    boolean isLast = isLast(stage, schedule);
    sums[stage % stages()]++;
    last[stage % stages()] += isLast ? 1 : 0;
    whole[stage % stages()] += isLast && after == Pass.BACKWARD ? 1 : 0;
  }

  /** Whether a rank ends with a stage, the first in the network of those that it holds. */
  private boolean isLast(int stage, Schedule schedule) {
    long[] program = schedule.packed(schedule.placement().rankOf(stage));
    return Schedule.stage(program[program.length - 1]) == stage
        && Arrays.stream(program).allMatch(op -> Schedule.stage(op) % stages() >= stage % stages());
  }
}
