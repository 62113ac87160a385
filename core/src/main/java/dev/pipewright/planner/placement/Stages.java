package dev.pipewright.planner.placement;

import java.util.ArrayList;
import java.util.List;

/** Groups by device, first devices first. */
record Stages(List<Stage> stages) {
  Stages {
    stages = List.copyOf(stages);
  }

  /** What one device holds. */
  record Stage(boolean processor, List<Integer> groups) {
    Stage {
      groups = List.copyOf(groups);
    }
  }

  /** Collects devices from the last to the first. */
  static final class Builder {
    private final IdealLattice lattice;
    private final List<Stage> stages = new ArrayList<>();

    Builder(IdealLattice lattice) {
      this.lattice = lattice;
    }

    void add(int ideal, int within, boolean processor) {
      List<Integer> groups = new ArrayList<>();
      for (int group : lattice.difference(ideal, within)) {
        groups.add(group);
      }
      stages.add(0, new Stage(processor, groups));
    }

    Stages stages() {
      return new Stages(stages);
    }
  }
}
