package dev.pipewright.bench.fuzz;

import java.util.Optional;
import java.util.SplittableRandom;

/** A command's own flags, with values that make sense or do not. */
record FlagTrial(String command, Seeds seeds) implements Trial {
  @Override
  public String name() {
    return "flags of " + command;
  }

  @Override
  public Optional<Campaign.Finding> one(Runner runner, int number, long seed) {
    return runner.judged(
        name(), number, CommandLines.of(command, seeds, new SplittableRandom(seed)), "", false);
  }
}
