package dev.pipewright.app.cli.setup;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** A script for fish, which picocli does not write: one line for each command and option. */
final class FishCompletion {
  private final String program;
  private final StringBuilder script = new StringBuilder();

  private FishCompletion(String program) {
    this.program = program;
  }

  static String of(CommandLine line) {
    FishCompletion made = new FishCompletion(line.getCommandName());
    made.options(line.getCommandSpec(), "");
    for (Map.Entry<String, CommandLine> each : line.getSubcommands().entrySet()) {
      made.command(each.getKey(), each.getValue().getCommandSpec());
    }
    return made.script.toString();
  }

  private void command(String name, CommandSpec command) {
    line(
        "__fish_use_subcommand",
        "-f",
        "-a",
        name,
        "-d",
        description(command.usageMessage().description()));
    options(command, "__fish_seen_subcommand_from " + name);
  }

  private void options(CommandSpec command, String condition) {
    for (OptionSpec option : command.options()) {
      List<String> words = new ArrayList<>();
      for (String name : option.names()) {
        boolean full = name.startsWith("--");
        words.addAll(List.of(full ? "-l" : "-s", name.substring(full ? 2 : 1)));
      }
      if (option.arity().max() > 0) {
        words.add("-r");
      }
      words.addAll(List.of("-d", description(option.description())));
      line(condition, words.toArray(String[]::new));
    }
  }

  private void line(String condition, String... words) {
    script.append("complete -c ").append(program);
    if (!condition.isEmpty()) {
      script.append(" -n ").append(quoted(condition));
    }
    for (String word : words) {
      script.append(' ').append(word.startsWith("-") && word.length() == 2 ? word : quoted(word));
    }
    script.append('\n');
  }

  /** The first sentence, which fish shows next to the name. */
  private static String description(String... lines) {
    String text = String.join(" ", lines).replace("%%", "%");
    int end = text.indexOf(". ");
    return (end < 0 ? text : text.substring(0, end)).replaceFirst("[.]$", "");
  }

  private static String quoted(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }
}
