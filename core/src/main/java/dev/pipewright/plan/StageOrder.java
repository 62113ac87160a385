package dev.pipewright.plan;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.schedule.Placement;
import dev.pipewright.units.Check;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What every plan asks of its stages: layers without a gap, devices that no two ranks share, and
 * one way to divide layers on each rank.
 */
final class StageOrder {
  private StageOrder() {}

  /** Each stage on a rank of its own. */
  static void check(List<StagePlan> stages) {
    Check.that(!stages.isEmpty(), "a plan has stages: stages=%d", stages.size());
    check(stages, Placement.straight(stages.size()));
  }

  static void check(List<StagePlan> stages, Placement placement) {
    Map<Integer, Integer> rankOf = new HashMap<>(); // by device
    Map<Integer, List<Integer>> devicesOf = new HashMap<>(); // by rank
    int next = 0;
    for (int s = 0; s < stages.size(); s++) {
      StagePlan stage = stages.get(s);
      int rank = placement.rankOf(s);
      Check.that(
          stage.firstLayer() == next,
          "stages must follow each other without gap: expected first layer %d, found %d, so that %s",
          next,
          stage.firstLayer(),
          amiss(next, stage));
      for (int device : stage.devices()) {
        Check.that(
            Objects.requireNonNullElse(rankOf.putIfAbsent(device, rank), rank) == rank,
            "device %d serves two stages",
            device);
      }
      List<Integer> devices = devicesOf.computeIfAbsent(rank, key -> stage.devices());
      Check.that(
          devices.equals(stage.devices()),
          "stages of one rank share their devices: stage=%d, devices=%s; take %s",
          s,
          stage.devices(),
          devices);
      next = stage.lastLayer() + 1;
    }
    checkDivision(stages, placement);
  }

  /** In both directions of the schedule. */
  private static void checkDivision(List<StagePlan> stages, Placement placement) {
    Map<Integer, Parallelism> ofRank = new HashMap<>();
    for (int s = 0; s < placement.stages(); s++) {
      Parallelism own = stages.get(s % stages.size()).parallelism();
      Parallelism other = ofRank.computeIfAbsent(placement.rankOf(s), key -> own);
      Check.that(
          other.equals(own),
          "stages of one rank divide layers alike: stage=%d, parallelism=%s; take %s",
          s % stages.size(),
          own,
          other);
    }
  }

  private static String amiss(int expected, StagePlan stage) {
    return stage.firstLayer() > expected
        ? "no stage has " + layers(expected, stage.firstLayer() - 1)
        : "two stages have "
            + layers(stage.firstLayer(), Math.min(expected - 1, stage.lastLayer()));
  }

  private static String layers(int first, int last) {
    return first >= last ? "layer " + first : "layers %d to %d".formatted(first, last);
  }
}
