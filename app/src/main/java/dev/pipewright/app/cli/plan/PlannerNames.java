package dev.pipewright.app.cli.plan;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.PlannerFlag;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.planner.catalog.PlannerOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ParseResult;

/** What the names of planners and objectives on the command line mean. */
final class PlannerNames {
  private static final List<String> ALL = PlannerCatalog.names().toList();
  private static final List<String> OBJECTIVES =
      Arrays.stream(Objective.values()).map(Objective::word).toList();

  private PlannerNames() {}

  /** Throws {@link BadInputException} with the nearest name where there is none such. */
  private static PlannerEntry known(String planner) {
    return PlannerCatalog.find(planner)
        .orElseThrow(() ->
            new BadInputException(
                "--planner: unknown '" + planner + "'; " + Suggestion.of(planner, ALL)));
  }

  /**
   * The planner for an objective: the given one, or for {@code auto} the one that is meant; empty
   * where several compete. Throws {@link BadInputException} where they contradict each other.
   *
   * @param objective as the user named it; null where not
   * @param measured whether the model is a table of measured peaks
   */
  static Optional<PlannerEntry> of(
      String planner, @Nullable String objective, BooleanSupplier measured) {
    PlannerEntry entry = known(planner);
    if (objective == null) {
      return Optional.of(entry);
    }
    Objective wanted =
        Objective.find(objective)
            .orElseThrow(() ->
                new BadInputException(
                    "--objective: unknown '%s'; %s"
                        .formatted(objective, Suggestion.of(objective, OBJECTIVES))));
    if (planner.equals(PlannerCatalog.DEFAULT)) {
      return PlannerCatalog.of(wanted, wanted == Objective.PEAK_MEMORY && measured.getAsBoolean());
    }
    if (planned(wanted) == Objective.STEP_TIME && entry.objective() == Objective.STEP_TIME) {
      return Optional.of(entry); // asked on parts of the cluster, or for many steps
    }
    if (entry.objective() != wanted) {
      throw new BadInputException(
          "--objective: %s is not what the planner %s plans for; leave one of them out, or take --planner %s"
              .formatted(
                  objective,
                  planner,
                  String.join(
                      " or ",
                      PlannerCatalog.entries(planned(wanted)).stream()
                          .map(PlannerEntry::name)
                          .toList())));
    }
    return Optional.of(entry);
  }

  /** The planners of the catalogue by objective, line by line. */
  static List<String> help() {
    List<String> lines = new ArrayList<>();
    for (Objective each : Objective.values()) {
      if (PlannerCatalog.entries(each).isEmpty()) {
        continue; // it takes those for time
      }
      lines.add("");
      lines.add("Planners for %s:".formatted(each.word()));
      for (PlannerEntry entry : PlannerCatalog.entries(each)) {
        lines.add("  %-18s %s".formatted(entry.name(), entry.words()));
      }
    }
    return lines;
  }

  /** What planners for an objective make small. */
  private static Objective planned(Objective wanted) {
    return wanted == Objective.COST || wanted == Objective.P95 ? Objective.STEP_TIME : wanted;
  }

  /**
   * Refuses flags that the planner does not support.
   *
   * @param planner empty where several compete
   * @param scheduled whether {@code --schedule} names the planner's own schedule
   */
  static void checkSupported(Optional<PlannerEntry> planner, boolean scheduled, ParseResult given) {
    String name = planner.map(PlannerEntry::name).orElse(ThroughputAnswer.NAME);
    Set<PlannerOption> options =
        planner.map(PlannerEntry::options).orElse(Set.of(PlannerOption.STAGES));
    for (PlannerOption option : PlannerOption.values()) {
      boolean supported =
          options.contains(option) || (scheduled && option == PlannerOption.SCHEDULE);
      if (given.hasMatchedOption(option.flag()) && !supported) {
        throw unsupported(option.flag(), name, entry -> entry.options().contains(option));
      }
    }
    List<PlannerFlag> flags = planner.map(PlannerEntry::flags).orElse(List.of());
    for (PlannerEntry other : PlannerCatalog.withFlags()) {
      for (PlannerFlag flag : other.flags()) {
        if (given.hasMatchedOption(flag.name()) && !flags.contains(flag)) {
          throw unsupported(flag.name(), name, entry -> entry.flags().contains(flag));
        }
      }
    }
  }

  private static BadInputException unsupported(
      String flag, String planner, Predicate<PlannerEntry> supports) {
    List<String> those =
        PlannerCatalog.entries().stream().filter(supports).map(PlannerEntry::name).toList();
    return new BadInputException(
        "%s: the planner %s does not support it; leave it out, or take --planner %s"
            .formatted(flag, planner, String.join(" or ", those)));
  }
}
