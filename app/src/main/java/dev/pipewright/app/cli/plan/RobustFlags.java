package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.input.JitterOptions;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.planner.Objective;
import dev.pipewright.sim.Jitter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;

/** The flags that ask for steps whose durations vary. */
final class RobustFlags {
  private static final String OBJECTIVE = "--objective " + Objective.P95.word();

  @Mixin private JitterOptions chances = new JitterOptions();

  /** Whether the percentile is what plans are chosen by. */
  boolean isGiven(@Nullable String objective) {
    return Objective.P95.word().equals(objective);
  }

  /** Throws where the flags contradict each other or are no numbers. */
  void check(@Nullable String objective) {
    if (!isGiven(objective)) {
      if (!chances.given().isEmpty()) {
        throw new BadInputException(
            "%s: says how durations vary, which only %s counts; add it, or ask `simulate` of the plan"
                .formatted(chances.given(), OBJECTIVE));
      }
      return;
    }
    if (!chances.varies()) {
      throw new BadInputException(
          "%s: no durations vary; add --jitter, like 0.1, or --stragglers, like 0.05:1.5"
              .formatted(OBJECTIVE));
    }
    jitter();
    runs();
  }

  /** How durations vary. */
  Jitter jitter() {
    Jitter jitter = chances.jitter();
    if (jitter == null) {
      throw new IllegalStateException("checked before");
    }
    return jitter;
  }

  int runs() {
    return chances.runs();
  }

  /** Throws where a plan is given, or compared. */
  static void refuse(SynchronousFlags synchronous) {
    if (synchronous.evaluate().isPresent()) {
      throw new BadInputException(
          "%s: --evaluate scores a plan as it is; leave out one of them, or ask `simulate` of the plan"
              .formatted(OBJECTIVE));
    }
    synchronous.reasons().refuse("leave out " + OBJECTIVE);
  }
}
