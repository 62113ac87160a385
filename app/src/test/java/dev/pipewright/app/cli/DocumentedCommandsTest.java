package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Commands that README and the pages of {@code docs} show have the options that they show. */
class DocumentedCommandsTest {
  private static final Path ROOT = Path.of("..");
  private static final CommandLine LINE = new CommandLine(new Main());

  /** A command in a block or in a line, up to its end or to the next command of a script. */
  private static final Pattern COMMAND =
      Pattern.compile("(?m)(?:\\./pipewright|`pipewright|^pipewright) ([a-z][a-z-]*)([^`\n;|>]*)");

  private static final Pattern OPTION = Pattern.compile("(?<=\\s)--[a-z][a-z-]*");

  private static List<Path> pages() throws IOException {
    try (Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
      return Stream.concat(
              Stream.of(ROOT.resolve("README.md"), ROOT.resolve("SKILL.md")),
              docs.filter(file -> file.toString().endsWith(".md")).sorted())
          .toList();
    }
  }

  @Test
  void everyOptionOfAShownCommandIsInItsHelp() throws IOException {
    List<String> wrong = new ArrayList<>();
    int shown = 0;
    for (Path page : pages()) {
      for (MatchResult command : COMMAND.matcher(Files.readString(page)).results().toList()) {
        shown++;
        String[] parts = command.group(2).split(" -- ", 2); // what follows -- is another's
        boolean known =
            knows(command.group(1), parts[0])
                && (parts.length == 1
                    || (command.group(1).equals("launch")
                        && knows(launched(parts[0]), " " + parts[1])));
        if (!known) {
          wrong.add(page.getFileName() + ": " + command.group());
        }
      }
    }
    assertEquals(List.of(), wrong);
    assertTrue(shown > 40, "too few commands: " + shown);
  }

  /** The command whose options follow -- in a line of `launch`. */
  private static String launched(String options) {
    return options.contains(" --sweep ") ? "plan" : "train";
  }

  /** Whether a command has all options of a line. */
  private static boolean knows(String command, String line) {
    CommandLine named = LINE.getSubcommands().get(command);
    if (named == null) {
      return false;
    }
    List<String> options =
        named.getCommandSpec().options().stream()
            .filter(option -> !option.hidden())
            .map(OptionSpec::longestName)
            .toList();
    return OPTION.matcher(line).results().allMatch(option -> options.contains(option.group()));
  }
}
