package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.runtime.engine.StepReport;
import dev.pipewright.runtime.launch.KeptEvents;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ReportingTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final long MILLISECOND = 1_000_000;

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 50 * MILLISECOND); // soon over
  private final KeptEvents sent = new KeptEvents(ReportingTest::shortened);
  private final Reporting reporting = new Reporting(sent, now::get);

  /** Steps by their numbers. */
  private static String shortened(String text) {
    JsonNode line = JSON.readTree(text);
    return line.has("steps")
        ? line.get("steps").valueStream().map(step -> step.get("step").asLong()).toList().toString()
        : text;
  }

  @Test
  void reportsOfShortStepsLeaveTogether() {
    for (int step = 0; step < 8; step++) {
      reporting.stepped(report(step));
      now.addAndGet(90 * MILLISECOND);
    }
    assertEquals(List.of("[0]", "[1, 2, 3]", "[4, 5, 6]"), sent.texts());
    reporting.close();
    reporting.close();
    assertEquals(List.of("[0]", "[1, 2, 3]", "[4, 5, 6]", "[7]"), sent.texts());
  }

  @Test
  void nothingOvertakesThem() {
    reporting.stepped(report(0));
    reporting.stepped(report(1));
    reporting.event("3");
    reporting.stepped(report(2));
    assertEquals("where?", reporting.ask("where?"));
    assertEquals(List.of("[0]", "[1]", "3", "[2]", "where?"), sent.texts());
  }

  private static StepReport report(int step) {
    return new StepReport(
        step, 1, 0, 1, new long[] {1}, new long[] {2}, new long[] {3}, 4, 5 + step);
  }
}
