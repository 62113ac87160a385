package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.schedule.ScheduleFacts;
import dev.pipewright.app.cli.schedule.SchedulesCommand;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The table of all schedules, in the terminal, as JSON and as a page. */
class SchedulesCommandTest {
  private static final Path PAGE = Path.of("../docs/schedules.md");
  private static final boolean RECORD = "record".equals(System.getProperty("golden"));

  private static JsonNode one(String name) {
    return StreamSupport.stream(
            Cli.run("schedules", "--json").ends(0).json().get("schedules").spliterator(), false)
        .filter(each -> each.get("name").asString().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void everyScheduleHasALine() {
    String out = Cli.run("schedules").ends(0).out();
    ScheduleCatalog.entries().forEach(entry -> assertTrue(out.contains("  " + entry.name() + " ")));
  }

  @Test
  void twoDirectionsHoldTwoCopiesOfTheParameters() {
    for (String name : List.of("chimera", "dualpipe", "gems")) {
      assertEquals(2, one(name).get("parameter_copies").asDouble(), name);
    }
    for (String name : List.of("1f1b", "dualpipev", "hanayo", "interleaved")) {
      assertEquals(1, one(name).get("parameter_copies").asDouble(), name);
    }
    assertTrue(one("zero-dp").get("parameter_copies").isNull());
  }

  @Test
  void theAnswerHasTypes() {
    JsonNode dualpipe = one("dualpipe");
    assertTrue(dualpipe.get("even_ranks").asBoolean());
    assertEquals(2, dualpipe.get("least_micro_batches_per_rank").asInt());
    assertEquals("two", dualpipe.get("micro_batches_multiple_of").asString());
    assertTrue(dualpipe.get("splits_backward").asBoolean());
    assertEquals(5, dualpipe.get("peak_activations").asDouble());
    assertEquals("(p/2 − 1)(F + 2B − W)", dualpipe.get("bubble").asString());
    assertEquals("F = B", dualpipe.get("bubble_holds").asString());
    JsonNode hanayo = one("hanayo");
    assertTrue(hanayo.get("even_chunks").asBoolean() && !hanayo.get("fixed_chunks").asBoolean());
    assertTrue(one("zb-v").get("bubble").isNull());
    assertEquals("stashed", one("pipedream").get("updates").asString());
  }

  @Test
  void aWordSelects() {
    JsonNode found = Cli.run("schedules", "Zero Bubble", "--json").ends(0).json();
    assertEquals(5, found.get("schedules").size());
    assertTrue(Cli.run("schedules", "2f2b").ends(2).err().contains("no schedule '2f2b'"));
  }

  /** Where two schedules are compared, the second copy stands next to the activations. */
  @Test
  void comparisonsShowCopiesWhereThereAreSome() {
    String with =
        Cli.run("schedule", "1f1b", "--beside=dualpipe", "--stages=4", "--micro-batches=8")
            .ends(0)
            .out();
    assertTrue(with.contains("copies"), with);
    String without =
        Cli.run("schedule", "1f1b", "--beside=zb-h1", "--stages=4", "--micro-batches=8")
            .ends(0)
            .out();
    assertTrue(!without.contains("copies"), without);
  }

  @Test
  void thePageHasTheTable() throws IOException {
    String page = Files.readString(PAGE);
    int begin = page.indexOf("\n| schedule |") + 1;
    int end = page.indexOf("\n\n", begin) + 1;
    if (RECORD) {
      Files.writeString(PAGE, page.substring(0, begin) + table() + page.substring(end));
    } else {
      assertEquals(table(), page.substring(begin, end));
      assertTrue(page.contains(SchedulesCommand.NOTE));
    }
  }

  private static String table() {
    List<String> headings = ScheduleFacts.headings();
    return row(headings)
        + "|---".repeat(headings.size())
        + "|\n"
        + ScheduleCatalog.entries().stream()
            .map(entry -> row(ScheduleFacts.of(entry).cells()))
            .collect(Collectors.joining());
  }

  private static String row(List<String> cells) {
    return "| " + String.join(" | ", cells) + " |\n";
  }
}
