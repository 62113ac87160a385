package dev.pipewright.app.cli.plan;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.planner.catalog.PlannerEntry.Schedules;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ParseResult;

/** The planners by their names on the command line, and the flags that only some of them heed. */
public final class PlannerNames {
  private static final Set<String> SYNCHRONOUS =
      PlannerCatalog.names().collect(Collectors.toUnmodifiableSet());
  private static final Set<String> MEMORY = Set.copyOf(MemoryAnswer.PLANNERS);
  public static final List<String> ALL =
      Stream.of(
              PlannerCatalog.names(),
              Stream.of("pipedream", "pipedream-2bw", "madpipe"),
              MemoryAnswer.PLANNERS.stream(),
              Stream.of("placement"))
          .flatMap(names -> names)
          .toList();

  /** What a planner can be asked for, and which ones are for it. */
  private static final Map<String, List<String>> OBJECTIVES = new LinkedHashMap<>();

  private static final Map<String, Set<String>> SUPPORTED = new LinkedHashMap<>();

  static {
    OBJECTIVES.put("time", ALL.stream().filter(SYNCHRONOUS::contains).toList());
    OBJECTIVES.put("memory", MemoryAnswer.PLANNERS);
    OBJECTIVES.put("throughput", List.of("pipedream", "pipedream-2bw", "madpipe", "placement"));
    SUPPORTED.put("--linearize", Set.of("placement"));
    SUPPORTED.put("--non-contiguous", Set.of("placement"));
    SUPPORTED.put("--levels", Set.of("pipedream"));
    SUPPORTED.put("--bandwidths", Set.of("pipedream"));
    SUPPORTED.put("--no-activation-transfer", Set.of("pipedream"));
    for (String flag : List.of("--cost-model", "--evaluate")) {
      SUPPORTED.put(flag, SYNCHRONOUS);
    }
    Set<String> flushing = new HashSet<>(SYNCHRONOUS);
    flushing.addAll(MEMORY);
    SUPPORTED.put("--micro-batch", flushing);
    SUPPORTED.put("--schedule", flushing);
    SUPPORTED.put(
        "--chunks",
        PlannerCatalog.entries().stream()
            .filter(entry -> entry.schedules() == Schedules.ANY)
            .map(PlannerEntry::name)
            .collect(Collectors.toUnmodifiableSet()));
    Set<String> recomputing = new HashSet<>(flushing);
    recomputing.add("madpipe");
    SUPPORTED.put("--recompute", recomputing);
    Set<String> cutting = new HashSet<>(ALL);
    cutting.remove("placement"); // it gives operators to devices
    cutting.add(ThroughputAnswer.NAME);
    SUPPORTED.put("--stages", cutting);
  }

  private PlannerNames() {}

  /** Throws {@link BadInputException} with the nearest name where there is none such. */
  static String known(String planner) {
    if (!ALL.contains(planner)) {
      throw new BadInputException(
          "--planner: unknown '" + planner + "'; " + Suggestion.of(planner, ALL));
    }
    return planner;
  }

  /**
   * The planner for an objective: the given one, or for {@code auto} the one that is meant. Throws
   * {@link BadInputException} where they contradict each other.
   *
   * @param objective as the user named it; null where not
   */
  static String of(String planner, @Nullable String objective) {
    known(planner);
    if (objective == null) {
      return planner;
    }
    List<String> those = OBJECTIVES.get(objective);
    if (those == null) {
      throw new BadInputException(
          "--objective: unknown '%s'; %s"
              .formatted(objective, Suggestion.of(objective, List.copyOf(OBJECTIVES.keySet()))));
    }
    if (planner.equals("auto")) {
      return switch (objective) {
        case "memory" -> "capture";
        case "throughput" -> ThroughputAnswer.NAME;
        default -> planner;
      };
    }
    if (!those.contains(planner)) {
      throw new BadInputException(
          "--objective: %s is not what the planner %s plans for; leave one of them out, or take --planner %s"
              .formatted(objective, planner, String.join(" or ", those)));
    }
    return planner;
  }

  /** Whether a planner is one of synchronous training with data and pipeline parallelism. */
  public static boolean isSynchronous(String planner) {
    return SYNCHRONOUS.contains(planner);
  }

  /**
   * Refuses flags that the planner does not support.
   *
   * @param ownSchedule whether it plans for the schedule that is named
   */
  static void checkSupported(String planner, ParseResult given, boolean ownSchedule) {
    SUPPORTED.forEach((flag, planners) -> {
      boolean supported = planners.contains(planner) || (ownSchedule && flag.equals("--schedule"));
      if (given.hasMatchedOption(flag) && !supported) {
        List<String> those = new ArrayList<>(ALL);
        those.retainAll(planners);
        throw new BadInputException(
            "%s: the planner %s does not support it; leave it out, or take --planner %s"
                .formatted(flag, planner, String.join(" or ", those)));
      }
    });
  }
}
