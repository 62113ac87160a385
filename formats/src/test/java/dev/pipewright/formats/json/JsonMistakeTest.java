package dev.pipewright.formats.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.PlanJson;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Refusal;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonMistakeTest {
  private static final String PLAN =
      """
      {
        "schedule": "1f1b",
        "micro_batches": 8,
        "micro_batch": 2,
        "stages": [
          {"layers": [0, 2], "devices": [0]},
          {"layers": [3, 5], "devices": [1]}
        ]
      }\
      """;

  @TempDir Path folder;

  private String said(String text) {
    return Refusal.of(Refusal.file(folder, "p.json", text), PlanJson::read);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      textBlock =
          """
          {"a": NaN}        | 'NaN' is no value of JSON; write a number, or text in double quotes
          {"a": tru}        | 'tru' is no value of JSON; write a number, or text in double quotes
          {"a": 'b'}        | ''' begins no value of JSON; write a number, text in double quotes, [ or {
          {"a": 1 "b": 2}   | '"' stands where a comma or an end should; add the comma
          {"a" 1}           | '1' stands where a colon should; add the colon
          {"a": 1,}         | '}' stands where a name in double quotes should; add it or remove the comma before
          {"a": 1, // one   | JSON has no comments; remove it
          {"a": [1}         | '}' stands where ']' should; close what is open
          {"a": 1}}         | '}' closes what nothing opened; remove it
          {"a": 01}         | this is no number as JSON writes one; write it like 0.5 or 16e9
          {"a": 1.}         | this is no number as JSON writes one; write it like 0.5 or 16e9
          {"a": +1}         | this is no number as JSON writes one; write it like 0.5 or 16e9
          {"a": "\\q"}      | a backslash stands before what it cannot escape; write two for one backslash
          """)
  void whatIsNotJsonIsSaidInOurWords(String text, String sentence) {
    String said = said(text);
    assertTrue(said.matches("p\\.json:1:\\d+: .*"), said);
    assertEquals(sentence, said.replaceFirst("p\\.json:1:\\d+: ", ""));
  }

  @Test
  void theColumnIsThatOfTheMistake() {
    assertTrue(said("{\n\"a\": 1 \"b\": 2}").startsWith("p.json:2:8: '\"' stands where a comma"));
  }

  @Test
  void whatIsTooLongOrTooDeepIsSaidInOurWords() {
    assertSaid("longer than 1000 characters; ", "{\"a\": " + "9".repeat(2000) + "}");
    assertSaid("longer than 50000 characters; ", "{\"" + "k".repeat(60_000) + "\": 1}");
    assertSaid("nest more than 500 deep; ", "{\"a\": " + "[".repeat(600));
    assertSaid("a text holds a line end or another control character; ", "{\"a\": \"b\n\"}");
    assertEquals(
        "p.json:1: is not a JSON file; the file holds bytes that are not text",
        said("{\"a\": \0}"));
  }

  private void assertSaid(String words, String text) {
    assertTrue(said(text).contains(words), said(text));
  }

  @Test
  void aPlanThatWasCutOffAnywhereIsRefusedInASentence() {
    for (int end = 1; end < PLAN.length(); end++) {
      assertOurs(said(PLAN.substring(0, end)));
    }
    assertEquals(
        "p.json:6:34: the file ends inside stages[0].devices; write it again",
        said(PLAN.substring(0, PLAN.indexOf(" [0]}"))));
  }

  /** Bytes put in anywhere: a sentence, or still a plan. */
  @RepeatedTest(200)
  void theParsersOwnWordsReachNobody(RepetitionInfo seed) throws IOException {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    String others = "{}[],:\"\\'eE+-.0123456789tfn/*#\t\n\0\u00e9";
    byte[] bytes = PLAN.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 3; i++) {
      bytes[random.nextInt(bytes.length)] = (byte) others.charAt(random.nextInt(others.length()));
    }
    Path file = Files.write(folder.resolve("p.json"), bytes);
    try {
      PlanJson.read(file);
    } catch (BadInputException e) {
      assertOurs(String.valueOf(e.getMessage()));
    }
  }

  private static void assertOurs(String message) {
    List<String> theirs =
        List.of("Unexpected", "expecting", "token", "marker", "Feature", "code ", "Source");
    for (String word : theirs) {
      assertFalse(message.contains(word), message);
    }
    assertEquals(1, message.lines().count(), message);
  }
}
