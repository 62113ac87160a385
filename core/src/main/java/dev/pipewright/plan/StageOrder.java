package dev.pipewright.plan;

import dev.pipewright.units.Check;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What every plan asks of its stages: layers without a gap, devices that no two share. */
final class StageOrder {
  private StageOrder() {}

  static void check(List<StagePlan> stages) {
    Check.that(!stages.isEmpty(), "a plan has stages: stages=%d", stages.size());
    Set<Integer> used = new HashSet<>();
    int next = 0;
    for (StagePlan stage : stages) {
      Check.that(
          stage.firstLayer() == next,
          "stages must follow each other without gap: expected first layer %d, found %d, so that %s",
          next,
          stage.firstLayer(),
          amiss(next, stage));
      for (int device : stage.devices()) {
        Check.that(used.add(device), "device %d serves two stages", device);
      }
      next = stage.lastLayer() + 1;
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
