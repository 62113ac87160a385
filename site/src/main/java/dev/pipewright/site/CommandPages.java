package dev.pipewright.site;

import dev.pipewright.app.cli.CommandLineProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** A page for each command, from what its {@code --help} says. */
final class CommandPages {
  private CommandPages() {}

  /** Writes {@code plan.md} and so on, and {@code index.md}, which lists them, to a folder. */
  static void write(Path folder) throws IOException {
    Files.createDirectories(folder);
    for (Map.Entry<String, String> page : all().entrySet()) {
      Files.writeString(folder.resolve(page.getKey() + ".md"), page.getValue());
    }
  }

  /** Pages by name; that of {@code index} lists the others. */
  static Map<String, String> all() {
    CommandLineProgram program = new CommandLineProgram();
    Map<String, String> pages = new TreeMap<>();
    StringBuilder index =
        new StringBuilder(
            """
            # Commands

            Every command has `--help`. Exit status: 0 done; 1 the answer is no; 2 the input or the flags are wrong; 3 a failure of Pipewright.

            | command | |
            |---|---|
            """);
    program
        .commands()
        .subcommands()
        .forEach((name, command) -> {
          CommandSpec spec = command.getCommandSpec();
          index.append(
              "| [`%s`](./%s.md) | %s |%n"
                  .formatted(name, name, text(spec.usageMessage().description())));
          StringBuilder page = new StringBuilder();
          command(program, spec, page);
          pages.put(name, page.toString());
        });
    pages.put("index", index.toString());
    return pages;
  }

  private static void command(CommandLineProgram program, CommandSpec spec, StringBuilder page) {
    CommandLine.Help help = new CommandLine.Help(spec, plain());
    page.append("# %s%n%n".formatted(spec.qualifiedName()))
        .append("%s%n%n".formatted(text(spec.usageMessage().description())))
        .append("```%n%s```%n".formatted(help.synopsis(0)));
    List<PositionalParamSpec> parameters =
        spec.positionalParameters().stream().filter(of -> !of.hidden()).toList();
    if (!parameters.isEmpty()) {
      page.append("%n".formatted());
      parameters.forEach(of -> item(of.paramLabel(), of, page));
    }
    program
        .options(spec)
        .forEach((topic, options) -> {
          page.append("%n## %s%n%n".formatted(topic));
          options.forEach(option -> item(names(option), option, page));
        });
    if (spec.usageMessage().footer().length > 0) {
      String footer = String.format(String.join("%n", spec.usageMessage().footer())).strip();
      page.append("%n```%n%s%n```%n".formatted(footer));
    }
  }

  private static CommandLine.Help.ColorScheme plain() {
    return CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF);
  }

  private static void item(String name, ArgSpec of, StringBuilder page) {
    page.append("- `%s`: %s%n".formatted(name, text(of.description())));
  }

  private static String names(OptionSpec option) {
    String names = String.join("`, `", option.names());
    return option.arity().max() == 0 ? names : names + "=" + option.paramLabel();
  }

  /** As text of Markdown, in which no word is markup. */
  private static String text(String[] lines) {
    return String.join(" ", lines)
        .strip()
        .replaceAll("\\s+", " ")
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace("*", "\\*")
        .replace("_", "\\_")
        .replace("[", "\\[")
        .replace("{{", "{&#8203;{");
  }
}
