package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.AnnotatedElement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

class HelpTopicsTest {
  private static final CommandLine LINE = new CommandLine(new Main());

  private static Set<String> visible() {
    Set<String> names = new TreeSet<>();
    List<CommandLine> all = new ArrayList<>(LINE.getSubcommands().values());
    all.add(LINE);
    for (CommandLine command : all) {
      command.getCommandSpec().options().stream()
          .filter(option -> !option.hidden())
          .map(OptionSpec::longestName)
          .forEach(names::add);
    }
    return names;
  }

  @Test
  void everyOptionOfATopicIsOneOfACommandAndInOneTopic() {
    List<String> listed = HelpTopics.TOPICS.values().stream().flatMap(List::stream).toList();
    assertEquals(listed.size(), new TreeSet<>(listed).size());
    List<String> unknown = new ArrayList<>(listed);
    unknown.removeAll(visible());
    assertEquals(List.of(), unknown);
  }

  @Test
  void everyOptionIsInATopic() {
    Set<String> left = visible();
    HelpTopics.TOPICS.values().forEach(left::removeAll);
    CommandLine serve = Objects.requireNonNull(LINE.getSubcommands().get("serve"));
    serve.getCommandSpec().options().stream() // in none
        .map(OptionSpec::longestName)
        .toList()
        .forEach(left::remove);
    assertEquals(Set.of(), left);
  }

  @Test
  void helpListsEveryOptionOnceAndTheCommonOnesFirst() {
    LINE.getSubcommands()
        .forEach((name, command) -> {
          String all = Cli.run(name, "--help").ends(0).out();
          String help = all.split("\n(Examples?|In the answer)", 2)[0]; // which quote options
          for (OptionSpec option : command.getCommandSpec().options()) {
            String column = "(?m)^ +(--?\\w+, )?" + option.longestName() + "\\b(?!-)";
            long lines = Pattern.compile(column).matcher(help).results().count();
            assertEquals(option.hidden() ? 0 : 1, lines, name + " " + option.longestName());
          }
        });
    String train = Cli.run("train", "--help").out();
    assertTrue(train.indexOf("--global-batch") < train.indexOf("--vertical-sync"), train);
    assertTrue(train.contains("\nParallelism:\n"), train);
  }

  @Test
  void everyLineOfHelpIsAFormatThatHolds() { // picocli warns of others on each run
    LINE.getSubcommands()
        .forEach((name, command) -> {
          List<String> lines = new ArrayList<>();
          for (OptionSpec option : command.getCommandSpec().options()) {
            if (option.userObject() instanceof AnnotatedElement field) {
              lines.addAll(List.of(field.getAnnotation(CommandLine.Option.class).description()));
            }
          }
          assertFalse(lines.isEmpty(), name);
          for (String line : lines) {
            assertDoesNotThrow(() -> String.format(line), name + ": " + line);
          }
        });
  }
}
