package dev.pipewright.app.cli.input;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.sim.Jitter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How durations differ from run to run, and how many runs there are. */
public final class JitterOptions {
  private static final int MOST_RUNS = 100_000;
  private static final int USUAL_RUNS = 200;

  @Option(
      names = "--jitter",
      paramLabel = "SPREAD",
      description =
          "Vary durations at random: the standard deviation of their logarithm, 0.1 for about"
              + " 10 %%. Prints median and 95th percentile of many runs.")
  private @Nullable String jitter;

  @Option(
      names = "--stragglers",
      paramLabel = "CHANCE:X",
      description = "Probability that a rank takes X times as long, drawn for each run.")
  private @Nullable String stragglers;

  @Option(
      names = "--runs",
      paramLabel = "N",
      description = "Number of runs with jitter or stragglers. Default: 200.")
  private @Nullable String runs;

  @Option(names = "--seed", paramLabel = "N", description = "Seed of all random runs. Default: 1.")
  private @Nullable String seed;

  /** Whether durations differ. */
  public boolean varies() {
    return jitter != null || stragglers != null;
  }

  /** The first option that is given; empty where none is. */
  public String given() {
    return jitter != null
        ? "--jitter"
        : stragglers != null
            ? "--stragglers"
            : runs != null ? "--runs" : seed != null ? "--seed" : "";
  }

  /** Throws where runs are counted that do not differ. */
  public void check() {
    String unused = runs != null ? "--runs" : seed != null ? "--seed" : "";
    if (!unused.isEmpty() && !varies()) {
      throw new BadInputException(
          unused
              + ": without --jitter or --stragglers all runs are the same; leave it out, or give"
              + " --jitter 0.1");
    }
  }

  /** How durations differ from run to run; null where they do not. */
  @Nullable
  public Jitter jitter() {
    if (jitter == null && stragglers == null) {
      return null;
    }
    double spread = jitter == null ? 0 : SimulationOptions.number("--jitter", jitter, 0, "0.1");
    double chance = 0;
    double factor = 1;
    if (stragglers != null) {
      String[] parts = stragglers.split(":", -1);
      if (parts.length != 2) {
        throw new BadInputException(
            "--stragglers: '%s' is no chance with a factor; write them like 0.05:1.5"
                .formatted(stragglers));
      }
      chance = SimulationOptions.number("--stragglers", parts[0], 0, "0.05");
      factor = SimulationOptions.number("--stragglers", parts[1], 1, "1.5");
    }
    if (spread > 10 || chance > 1) {
      throw new BadInputException(
          spread > 10
              ? "--jitter: a spread of %s is beyond use; take at most 10".formatted(jitter)
              : "--stragglers: %s is no chance; take one from 0 to 1".formatted(stragglers));
    }
    return new Jitter(seed(), spread, chance, factor);
  }

  private long seed() {
    try {
      return seed == null ? 1 : Long.parseLong(seed);
    } catch (NumberFormatException e) {
      throw new BadInputException(
          "--seed: '%s' is no whole number; give one, like 1".formatted(seed));
    }
  }

  /** How many. */
  public int runs() {
    int count = runs == null ? USUAL_RUNS : OptionValues.count("--runs", runs);
    if (count > MOST_RUNS) {
      throw new BadInputException(
          "--runs: %d runs would take too long; take at most %d".formatted(count, MOST_RUNS));
    }
    return count;
  }
}
