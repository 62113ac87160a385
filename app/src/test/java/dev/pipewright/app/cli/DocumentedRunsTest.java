package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Commands of quick starts, how-tos, troubleshooting and SKILL.md run, and do what pages say. */
class DocumentedRunsTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern BLOCK = Pattern.compile("(?s)```sh\n(.*?)```");
  private static final Pattern COMMAND = Pattern.compile("`pipewright ([^`]+)`");

  /** A row of a table: question, commands, keys. */
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|$");

  @TempDir Path folder;

  /** Names of files are those in the test's folder where a command before it wrote them there. */
  private String[] words(String line) {
    List<String> words = new ArrayList<>();
    Matcher word = Pattern.compile("'([^']*)'|(\\S+)").matcher(line);
    while (word.find()) {
      words.add(word.group(1) != null ? word.group(1) : word.group(2));
    }
    for (int i = 0; i < words.size(); i++) {
      boolean written =
          i > 0 && List.of("--out", "--csv", "--svg", "--html").contains(words.get(i - 1));
      if (written || Files.exists(folder.resolve(words.get(i)))) {
        words.set(i, folder.resolve(words.get(i)).toString());
      }
    }
    return words.toArray(String[]::new);
  }

  private void run(String line) throws IOException {
    String[] parts = line.split(" > ", 2);
    Cli cli = Cli.run(words(parts[0]));
    assertEquals(0, cli.status(), line + ": " + cli.err());
    if (parts.length > 1) {
      Files.writeString(folder.resolve(parts[1].strip()), cli.out());
    }
  }

  /** A profile as the tool writes it. */
  private void profile() throws IOException {
    String formats = Files.readString(ROOT.resolve("docs/formats.md"));
    int start = formats.indexOf("{\n  \"format\": \"pipewright-profile\"");
    Files.writeString(
        folder.resolve("net.json"), formats.substring(start, formats.indexOf("```", start)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"start-llm", "start-schedules", "start-pytorch", "how-to"})
  void everyCommandOfABlockRuns(String page) throws IOException {
    profile();
    int runs = 0;
    for (MatchResult block :
        BLOCK.matcher(Files.readString(ROOT.resolve("docs/" + page + ".md"))).results().toList()) {
      for (String line : block.group(1).lines().toList()) {
        assertTrue(line.startsWith("pipewright "), line);
        run(line.substring("pipewright ".length()));
        runs++;
      }
    }
    assertTrue(runs >= 4, "too few commands: " + runs);
  }

  @Test
  void troublesAreAnsweredAsThePageSays() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/troubleshooting.md"));
    int rows = 0;
    for (MatchResult row : ROW.matcher(page).results().toList()) {
      Matcher command = COMMAND.matcher(row.group(1));
      if (command.matches()) {
        Cli cli = Cli.run(words(command.group(1)));
        String message = row.group(2).replaceFirst("^`", "").replaceFirst("…?`$", "");
        assertTrue(cli.status() == 1 || cli.status() == 2, command.group());
        assertTrue(
            cli.err().contains("pipewright: " + message), command.group() + " said " + cli.err());
        rows++;
      }
    }
    assertTrue(rows >= 10, "too few messages: " + rows);
  }

  @Test
  void everyAnswerOfTheSkillHasTheKeysThatItNames() throws IOException {
    String page = Files.readString(ROOT.resolve("SKILL.md"));
    assertTrue(page.startsWith("---\nname: pipewright\ndescription: "), "no front matter");
    run("plan bert-48 --cluster dapple-a:1x4 --global-batch 32 --json > plan.json");
    int keys = 0;
    for (MatchResult row : ROW.matcher(page).results().toList()) {
      List<JsonNode> answers = new ArrayList<>();
      for (MatchResult command : COMMAND.matcher(row.group(2)).results().toList()) {
        Cli cli = Cli.run(words(command.group(1)));
        assertEquals(0, cli.status(), command.group() + ": " + cli.err());
        answers.add(cli.json());
      }
      if (!answers.isEmpty()) {
        for (MatchResult key :
            Pattern.compile("`([^`]+)`").matcher(row.group(3)).results().toList()) {
          boolean found =
              answers.stream().anyMatch(answer -> find(answer, key.group(1)).isPresent());
          assertTrue(found, row.group(1) + ": no " + key.group(1));
          keys++;
        }
      }
    }
    assertTrue(keys > 35, "too few keys: " + keys);
  }

  /** The value at a path like {@code plan.stages[].devices}, of the first element that has it. */
  private static Optional<JsonNode> find(JsonNode answer, String path) {
    String[] parts = path.split("\\.", 2);
    boolean list = parts[0].endsWith("[]");
    JsonNode value = answer.path(parts[0].replace("[]", ""));
    if (value.isMissingNode() || (list && !value.isArray())) {
      return Optional.empty();
    }
    if (parts.length == 1) {
      return Optional.of(value);
    }
    if (!list) {
      return find(value, parts[1]);
    }
    return value.valueStream().flatMap(each -> find(each, parts[1]).stream()).findFirst();
  }
}
