package dev.pipewright.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.CommandLineProgram;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

class CommandPagesTest {
  private static final CommandSpec PROGRAM = new CommandLineProgram().commands();
  private static final Map<String, String> PAGES = CommandPages.all();

  @Test
  void everyCommandHasAPageAndALineInTheIndex() {
    List<String> names = new ArrayList<>(PROGRAM.subcommands().keySet());
    names.add("index");
    assertEquals(names.stream().sorted().toList(), List.copyOf(PAGES.keySet()));
    for (String name : PROGRAM.subcommands().keySet()) {
      assertTrue(PAGES.getOrDefault("index", "").contains("(./" + name + ".md)"), name);
    }
  }

  @Test
  void everyVisibleOptionAndArgumentIsOnItsCommandsPageOnce() {
    int options = 0;
    for (var command : PROGRAM.subcommands().entrySet()) {
      CommandSpec spec = command.getValue().getCommandSpec();
      String page = PAGES.getOrDefault(command.getKey(), "");
      for (OptionSpec option : spec.options()) {
        String place = command.getKey() + " " + option.longestName();
        String item = "(?s).*\n- (`[^`]+`, )*`" + option.longestName() + "[`=].*";
        assertEquals(!option.hidden(), page.matches(item), place);
        options++;
      }
      for (var parameter : spec.positionalParameters()) {
        boolean listed = page.contains("\n- `" + parameter.paramLabel() + "`:");
        assertEquals(!parameter.hidden(), listed, command.getKey());
      }
    }
    assertTrue(options > 300, "too few options: " + options);
  }

  @Test
  void noDescriptionIsReadAsMarkupOrAsAFormat() {
    String all = String.join("\n", PAGES.values());
    String text = all.replaceAll("(?s)```.*?```", "").replaceAll("`[^`\n]*`", "");
    assertEquals(-1, text.indexOf('<'));
    for (String wrong : List.of("%%", "%n", "{{", "${")) {
      assertEquals(-1, all.indexOf(wrong), wrong);
    }
  }
}
