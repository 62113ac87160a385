package dev.pipewright.solver;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.Arrays;
import java.util.List;

/**
 * How many activations each stage may hold, given its rank's memory: in ticks of bytes, so that
 * sums are exact.
 */
final class Holdings {
  private final long[] activation; // by stage
  private final long[]
      room; // by rank, less the state of its stages; -1 where even that is too much
  private final int[] most; // by stage

  private Holdings(long[] activation, long[] room, int[] most) {
    this.activation = activation;
    this.room = room;
    this.most = most;
  }

  static Holdings of(PatternProblem problem) {
    List<StageLoad> stages = problem.stages();
    Placement placement = problem.placement();
    double[] amounts = new double[2 * stages.size()];
    Arrays.setAll(
        amounts,
        i ->
            i < stages.size()
                ? stages.get(i).activationBytes()
                : stages.get(i - stages.size()).stateBytes());
    IntegerTicks ticks = IntegerTicks.of(amounts);
    long[] counts = ticks.counts(amounts);
    long[] room = new long[placement.ranks()];
    Arrays.setAll(room, rank -> ticks.within(problem.capacityBytes()[rank]));
    for (int stage = 0; stage < stages.size(); stage++) {
      room[placement.rankOf(stage)] -= counts[stages.size() + stage];
    }
    long[] activation = Arrays.copyOf(counts, stages.size());
    return new Holdings(activation, room, most(placement, activation, room));
  }

  /** By stage: what its rank has room for when its other stages hold one activation each. */
  private static int[] most(Placement placement, long[] activation, long[] room) {
    long[] left = room.clone();
    for (int stage = 0; stage < activation.length; stage++) {
      left[placement.rankOf(stage)] -= activation[stage];
    }
    int[] most = new int[activation.length];
    int before = Integer.MAX_VALUE; // no stage holds more than the one before it
    for (int stage = 0; stage < most.length; stage++) {
      long spare = left[placement.rankOf(stage)];
      if (spare < 0) {
        most[stage] = 0;
      } else if (activation[stage] == 0) {
        most[stage] = Integer.MAX_VALUE;
      } else {
        most[stage] = (int) Math.min(Integer.MAX_VALUE - 1, spare / activation[stage]) + 1;
      }
      before = Math.min(before, most[stage]);
      most[stage] = before;
    }
    return most;
  }

  /** Whether every stage can hold one activation. */
  boolean possible() {
    return Arrays.stream(most).allMatch(count -> count > 0);
  }

  /** The most that a stage can hold; {@link Integer#MAX_VALUE} where memory sets no limit. */
  int most(int stage) {
    return most[stage];
  }

  /** Whether a rank's stages share its memory, so that one may hold more where another does not. */
  boolean shared(int rank, Placement placement) {
    int holders = 0;
    for (int stage = 0; stage < activation.length; stage++) {
      holders += placement.rankOf(stage) == rank && activation[stage] > 0 ? 1 : 0;
    }
    return holders > 1;
  }

  long activation(int stage) {
    return activation[stage];
  }

  long room(int rank) {
    return room[rank];
  }

  /** The same with a stage, and so all behind it, holding at most so many. */
  Holdings capped(int stage, int count) {
    int[] capped = most.clone();
    for (int s = stage; s < capped.length; s++) {
      capped[s] = Math.min(capped[s], count);
    }
    return new Holdings(activation, room, capped);
  }
}
