package dev.pipewright.planner.madpipe;

import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.List;

/** The ops of a batch on the ranks of an allocation: forward passes, then backward passes back. */
final class Ops {
  private final Allocation allocation;
  private final int stages;
  private final double[] seconds; // by link
  private final int[][] besides; // by link: the others of its rank

  Ops(Allocation allocation) {
    this.allocation = allocation;
    stages = allocation.loads().size();
    seconds = new double[2 * stages];
    List<List<Integer>> byRank = new ArrayList<>();
    for (int rank = 0; rank < allocation.rankCount(); rank++) {
      byRank.add(new ArrayList<>());
    }
    for (int stage = 0; stage < stages; stage++) {
      StageLoad load = allocation.loads().get(stage);
      seconds[stage] = load.forwardSeconds();
      seconds[back(stage)] = load.backwardSeconds();
      byRank.get(allocation.rank(stage)).add(stage);
      byRank.get(allocation.rank(stage)).add(back(stage));
    }
    besides = new int[2 * stages][];
    for (int link = 0; link < besides.length; link++) {
      int own = link;
      besides[link] =
          byRank.get(rank(link)).stream().mapToInt(other -> other).filter(o -> o != own).toArray();
    }
  }

  Allocation allocation() {
    return allocation;
  }

  int stages() {
    return stages;
  }

  int links() {
    return 2 * stages;
  }

  double seconds(int link) {
    return seconds[link];
  }

  /** The backward pass of a stage. */
  int back(int stage) {
    return 2 * stages - 1 - stage;
  }

  int stage(int link) {
    return Math.min(link, back(link));
  }

  int rank(int link) {
    return allocation.rank(stage(link));
  }

  int[] besides(int link) {
    return besides[link];
  }

  /** Whether the rank of a stage has others. */
  boolean shared(int stage) {
    return besides[stage].length > 1;
  }

  /** The longest op of a stage's rank among the stages before. */
  double longestBefore(int stage) {
    double longest = 0;
    for (int other : besides[stage]) {
      longest = stage(other) < stage ? Math.max(longest, seconds[other]) : longest;
    }
    return longest;
  }
}
