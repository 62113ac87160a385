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
          "stages must follow each other without gap: expected first layer %d, found %d",
          next,
          stage.firstLayer());
      for (int device : stage.devices()) {
        Check.that(used.add(device), "device %d serves two stages", device);
      }
      next = stage.lastLayer() + 1;
    }
  }
}
