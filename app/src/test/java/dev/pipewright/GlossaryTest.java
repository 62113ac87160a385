package dev.pipewright;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Names and messages use the field's words ({@code docs/glossary.md}). */
class GlossaryTest {
  private static final Path ROOT = Path.of("..");

  /** Parts of type names that the field has other words for. */
  private static final Pattern NAMES =
      Pattern.compile(
          "Team|Crew|Company|HandOn|Told|Heed|Travel|Trainee|Witness|TwoBuffer|Standstill|Itinerary");

  /** Words of messages that the field has others for. */
  private static final Pattern WORDS =
      Pattern.compile(
          "\\b(teams?|crews?|nobody|somebody|heeds?|told|hands? on|handed on|steps (that )?flow"
              + "|flow into one another|travelling states)\\b");

  private static final Pattern STRING = Pattern.compile("\"((?:\\\\.|[^\"\\\\\n])*)\"");

  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    for (String module : List.of("core", "formats", "solver", "runtime", "app")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
        files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
      }
    }
    assertTrue(sources.size() > 500, "too few sources: " + sources.size());
    return sources;
  }

  @Test
  void typesHaveTheFieldsNames() throws IOException {
    List<String> found =
        sources().stream()
            .map(file -> file.getFileName().toString())
            .filter(name -> NAMES.matcher(name).find())
            .toList();
    assertEquals(List.of(), found);
  }

  @Test
  void messagesUseTheFieldsWords() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : sources()) {
      Matcher strings = STRING.matcher(Files.readString(file));
      while (strings.find()) {
        boolean sentence = strings.group(1).contains(" "); // not a key of JSON
        if (sentence && WORDS.matcher(strings.group(1)).find()) {
          found.add(file.getFileName() + ": " + strings.group());
        }
      }
    }
    assertEquals(List.of(), found);
  }
}
