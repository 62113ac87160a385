package dev.pipewright.planner;

import dev.pipewright.plan.PipelinePlan;
import java.util.Optional;

/** Which plans a search may answer with: those that the program which is to run them can say. */
public interface Restriction {
  /** All plans. */
  Restriction NONE =
      new Restriction() {
        @Override
        public boolean allows(String schedule) {
          return true;
        }

        @Override
        public Optional<PipelinePlan> nearest(PipelinePlan plan) {
          return Optional.of(plan);
        }
      };

  /** Whether a schedule of the catalogue is among them, by its name. */
  boolean allows(String schedule);

  /** The plan where it is among them, otherwise the one most like it; empty where none is. */
  Optional<PipelinePlan> nearest(PipelinePlan plan);
}
