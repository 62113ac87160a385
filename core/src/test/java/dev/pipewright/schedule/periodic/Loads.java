package dev.pipewright.schedule.periodic;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Stages to try patterns on. */
final class Loads {
  private Loads() {}

  /** Stages without memory, from their forward and backward seconds in turn. */
  static List<StageLoad> of(double... seconds) {
    List<StageLoad> stages = new ArrayList<>();
    for (int i = 0; i < seconds.length; i += 2) {
      stages.add(new StageLoad(seconds[i], seconds[i + 1], 0, 0));
    }
    return stages;
  }

  /** Equal stages of a second each way. */
  static List<StageLoad> equal(int stages) {
    List<StageLoad> equal = new ArrayList<>();
    for (int stage = 0; stage < stages; stage++) {
      equal.add(new StageLoad(1, 1, 0, 1));
    }
    return equal;
  }

  /** Whole seconds from 1 to {@code longest}, whole bytes from 0 to 3. */
  static List<StageLoad> whole(SplittableRandom random, int stages, int longest) {
    List<StageLoad> loads = new ArrayList<>();
    for (int stage = 0; stage < stages; stage++) {
      loads.add(
          new StageLoad(
              random.nextInt(1, longest + 1),
              random.nextInt(1, longest + 1),
              random.nextInt(4),
              random.nextInt(4)));
    }
    return loads;
  }

  static double slowest(List<StageLoad> stages) {
    return stages.stream().mapToDouble(StageLoad::seconds).max().orElseThrow();
  }

  static double all(List<StageLoad> stages) {
    return stages.stream().mapToDouble(StageLoad::seconds).sum();
  }
}
