package dev.pipewright.app.cli.plan;

import dev.pipewright.planner.FlagValues;
import dev.pipewright.planner.PlannerFlag;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.planner.catalog.PlannerEntry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** The flags of {@code plan} that single planners of the catalogue declare. */
public final class PlannerFlags {
  private PlannerFlags() {}

  /** Adds them to a command. */
  static void declare(CommandSpec command) {
    for (PlannerEntry entry : PlannerCatalog.withFlags()) {
      for (PlannerFlag flag : entry.flags()) {
        command.addOption(option(entry, flag));
      }
    }
  }

  private static OptionSpec option(PlannerEntry entry, PlannerFlag flag) {
    OptionSpec.Builder option =
        OptionSpec.builder(flag.name())
            .description("For %s: %s".formatted(entry.name(), flag.words()).replace("%", "%%"));
    return flag.label().isPresent()
        ? option.type(String.class).paramLabel(flag.label().get()).build()
        : option.type(boolean.class).build();
  }

  /** What the user gave for them. */
  static FlagValues of(ParseResult given) {
    Map<String, String> values = new HashMap<>();
    for (PlannerEntry entry : PlannerCatalog.withFlags()) {
      for (PlannerFlag flag : entry.flags()) {
        if (given.hasMatchedOption(flag.name())) {
          Object value = given.matchedOptionValue(flag.name(), "");
          values.put(flag.name(), flag.label().isPresent() ? String.valueOf(value) : "");
        }
      }
    }
    return new FlagValues(values);
  }

  /** Their names, for the help text. */
  public static List<String> names() {
    return PlannerCatalog.withFlags().stream()
        .flatMap(entry -> entry.flags().stream())
        .map(PlannerFlag::name)
        .toList();
  }
}
