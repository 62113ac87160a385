package dev.pipewright.app.cli.plan;

import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.planner.Objective;
import dev.pipewright.units.Range;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flags that ask how much of a cluster to use. */
final class SizingFlags {
  private static final double MOST_PRICE = 1e9;

  @Option(
      names = "--smallest-cluster",
      description =
          "Plan on the fewest devices of the cluster on which the network fits: powers of two within"
              + " a machine, then whole machines.")
  private boolean smallest;

  @Option(
      names = "--front",
      description =
          "Plans that no other excels in step time and memory, found under falling limits of memory;"
              + " with --smallest-cluster on parts of the cluster, too. With --out each is a file.")
  private boolean front;

  @Option(
      names = "--target-time",
      paramLabel = "S",
      description = "With --smallest-cluster: seconds that a step may take at most.")
  private @Nullable String targetTime;

  @Option(
      names = "--device-hour",
      paramLabel = "PRICE",
      description = "With --objective cost: price of an hour of one device.")
  private @Nullable String deviceHour;

  /** Whether parts of the cluster are asked about, too. */
  boolean isGiven(@Nullable String objective) {
    return smallest || Objective.COST.word().equals(objective);
  }

  /** Throws where the flags contradict each other or are no numbers. */
  void check(@Nullable String objective) {
    boolean cost = Objective.COST.word().equals(objective);
    if (front && objective != null && !objective.equals(Objective.STEP_TIME.word())) {
      throw new BadInputException(
          "--front: is of step time and memory, and --objective %s of something else; leave out one of them"
              .formatted(objective));
    }
    if (front && targetTime != null) {
      throw new BadInputException("--target-time: --front has plans of any time; leave out one");
    }
    if (smallest && objective != null && !objective.equals(Objective.STEP_TIME.word())) {
      throw new BadInputException(
          "--smallest-cluster: asks for the fewest devices, and --objective %s for others; leave out one of them"
              .formatted(objective));
    }
    if (targetTime != null && !smallest) {
      throw new BadInputException(
          "--target-time: is what the fewest devices have to reach; add --smallest-cluster");
    }
    if (deviceHour != null && !cost) {
      throw new BadInputException("--device-hour: is a price; add --objective cost");
    }
    target();
    price();
  }

  /** Whether a front is asked for rather than a plan. */
  boolean front() {
    return front;
  }

  boolean smallest() {
    return smallest;
  }

  /** Seconds of a step at most. */
  OptionalDouble target() {
    if (targetTime == null) {
      return OptionalDouble.empty();
    }
    double seconds = Amounts.decimal(targetTime);
    if (Range.SECONDS.positive(seconds)) {
      return OptionalDouble.of(seconds);
    }
    throw new BadInputException(
        "--target-time: '%s' is no time of a step; give seconds, like 0.5".formatted(targetTime));
  }

  /** Of an hour of a device. */
  OptionalDouble price() {
    if (deviceHour == null) {
      return OptionalDouble.empty();
    }
    double price = Amounts.decimal(deviceHour);
    if (price > 0 && price <= MOST_PRICE) {
      return OptionalDouble.of(price);
    }
    throw new BadInputException(
        "--device-hour: '%s' is no price; give a number above 0, like 2.5".formatted(deviceHour));
  }
}
