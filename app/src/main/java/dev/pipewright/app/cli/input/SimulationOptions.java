package dev.pipewright.app.cli.input;

import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Conditions.Transfers;
import dev.pipewright.sim.Jitter;
import dev.pipewright.sim.Wires;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What the simulated devices and links are like, in addition to the times that are given. */
public final class SimulationOptions {
  private static final String SHARED = "shared";
  private static final int USUAL_MACHINE = 8; // ranks

  @Option(
      names = "--transfers",
      paramLabel = "KIND",
      description =
          "What a transfer between stages delays: delayed: nothing but its receiver; queued:"
              + " later transfers of the same direction; blocking: also the computation of its"
              + " sender; shared: all transfers that leave or enter the same machine share its port."
              + " Default: delayed for schedules, queued for plans, shared for plans without flushes.")
  private @Nullable String transfers;

  @Option(
      names = "--per-machine",
      paramLabel = "N",
      description = "Ranks of one machine, for --transfers shared of schedules. Default: 8.")
  private @Nullable String perMachine;

  @Option(
      names = "--slowdown",
      paramLabel = "X",
      description =
          "Factor by which a rank computes more slowly while it communicates. Default: 1, overlapped"
              + " communication costs nothing.")
  private @Nullable String slowdown;

  @Option(
      names = "--look-ahead",
      paramLabel = "N",
      description =
          "Number of waiting passes that a later pass may overtake, without holding more"
              + " activations. Default: 0, the order as given.")
  private @Nullable String lookAhead;

  @Option(
      names = "--slow",
      paramLabel = "RANK:X[,…]",
      description = "Ranks that compute everything X times as slowly.")
  private @Nullable String slow;

  @Mixin private JitterOptions chances = new JitterOptions();

  /** Throws where something is said that changes nothing in a schedule's runs. */
  public void checkSupported() {
    if (perMachine != null && !SHARED.equals(transfers)) {
      throw new BadInputException(
          "--per-machine: only shared transfers go by machines; leave it out, or give --transfers"
              + " shared");
    }
    chances.check();
  }

  /** The same in a plan's runs. */
  public void checkSupportedByPlans() {
    if (perMachine != null) {
      throw new BadInputException(
          "--per-machine: is for schedules, and a plan says where its devices are; leave it out");
    }
    chances.check();
  }

  /** Refuses chances where runs are not for them. */
  void refuseJitter(String those, Path plan) {
    if (chances.varies()) {
      throw new BadInputException(
          "--jitter: and --stragglers are for %s, and %s is none; leave them out"
              .formatted(those, plan));
    }
  }

  /** Refuses all but slow ranks, where nothing else is simulated. */
  public void refuseAllButSlow(String why, Path plan) {
    Map<String, Boolean> given = new LinkedHashMap<>();
    given.put("--transfers", transfers != null);
    given.put("--slowdown", slowdown != null);
    given.put("--look-ahead", lookAhead != null);
    given.put("--jitter", chances.given().equals("--jitter"));
    given.put("--stragglers", chances.given().equals("--stragglers"));
    given.forEach((option, there) -> {
      if (there) {
        throw new BadInputException(
            "%s: %s %s; leave it out, as only --slow counts here".formatted(option, plan, why));
      }
    });
  }

  /** The conditions of every run of a schedule of so many ranks. */
  public Conditions conditions(Transfers usual, int ranks) {
    int each = perMachine == null ? USUAL_MACHINE : OptionValues.count("--per-machine", perMachine);
    return conditions(usual, Wires.nodes(ranks, each, 1, 1, 0));
  }

  /**
   * The conditions of every run.
   *
   * @param machines the links where transfers share them
   */
  public Conditions conditions(Transfers usual, Wires machines) {
    return conditions(Conditions.of(usual), machines);
  }

  /** The same where machines may be shared as usual. */
  public Conditions conditions(Conditions usual, Wires machines) {
    Conditions conditions = usual;
    if (transfers != null) {
      conditions =
          transfers.equals(SHARED)
              ? Conditions.of(Transfers.DELAYED).withWires(machines)
              : Conditions.of(transfers(transfers));
    }
    if (slowdown != null) {
      conditions = conditions.withSlowdown(number("--slowdown", slowdown, 1, "1.2"));
    }
    return lookAhead == null
        ? conditions
        : conditions.withLookAhead(whole("--look-ahead", lookAhead));
  }

  /** What is unusual, to follow a statement of the times; empty where nothing is. */
  public String words() {
    StringBuilder words = new StringBuilder();
    add(words, "transfers ", transfers);
    add(words, "computing slowed by communication ×", slowdown);
    add(words, "looking ahead ", lookAhead);
    add(words, "slow ranks ", slow);
    return words.toString();
  }

  private static void add(StringBuilder words, String what, @Nullable String value) {
    if (value != null) {
      words.append(", ").append(what).append(value);
    }
  }

  private static Transfers transfers(String word) {
    for (Transfers each : Transfers.values()) {
      if (each.name().toLowerCase(Locale.ROOT).equals(word)) {
        return each;
      }
    }
    throw new BadInputException(
        "--transfers: '%s' is none; take delayed, queued, blocking or shared".formatted(word));
  }

  /** How many times as long each rank computes. */
  public double[] slowness(int ranks) {
    double[] factors = new double[ranks];
    Arrays.fill(factors, 1);
    Set<Integer> named = new HashSet<>();
    for (String entry : slow == null ? new String[0] : slow.split(",", -1)) {
      String[] parts = entry.split(":", -1);
      if (parts.length != 2) {
        throw new BadInputException(
            "--slow: '%s' is no rank with a factor; write them like 3:1.5".formatted(entry));
      }
      int rank = whole("--slow", parts[0]);
      if (rank >= ranks) {
        throw new BadInputException(
            "--slow: there is no rank %d; ranks are 0 to %d".formatted(rank, ranks - 1));
      }
      factors[rank] = number("--slow", parts[1], 0, "1.5");
      if (factors[rank] == 0) {
        throw new BadInputException(
            "--slow: rank %d cannot compute in no time; give a factor above 0, like 1.5"
                .formatted(rank));
      }
      if (!named.add(rank)) {
        throw new BadInputException(
            "--slow: '%s' names rank %d twice; name it once".formatted(slow, rank));
      }
    }
    return factors;
  }

  /** How durations differ from run to run; null where they do not. */
  @Nullable
  public Jitter jitter() {
    return chances.jitter();
  }

  public int runs() {
    return chances.runs();
  }

  private static int whole(String option, String text) {
    try {
      int value = Integer.parseInt(text.strip());
      if (value >= 0) {
        return value;
      }
    } catch (NumberFormatException e) {
      // said below, as for a negative one
    }
    throw new BadInputException(
        "%s: '%s' is no whole number from 0; give one, like 4".formatted(option, text));
  }

  static double number(String option, String text, double least, String like) {
    double value = Amounts.decimal(text);
    if (value >= least && value <= 1e6) {
      return value;
    }
    throw new BadInputException(
        "%s: '%s' is no number from %s to a million; give one, like %s"
            .formatted(option, text, least == 0 ? "0" : "1", like));
  }
}
