package dev.pipewright.app.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class ScheduleTraceTest {
  private static final ScheduleRun PLAIN =
      ScheduleRuns.of(OneForwardOneBackward.of(3, 5), 1, OpTimes.equal(3, 1, 1, 1, 0.5));
  private static final List<ScheduleRun> RUNS =
      List.of(
          PLAIN,
          ScheduleRuns.of(DualPipeV.of(4, 10), 2),
          ScheduleRuns.ring(),
          ScheduleRuns.replicas());

  private static List<JsonNode> events(ScheduleRun run, String phase) {
    List<JsonNode> events = new ArrayList<>();
    for (JsonNode event : PageReader.json(ScheduleTrace.of(run)).get("traceEvents")) {
      if (event.get("ph").asString().equals(phase)) {
        events.add(event);
      }
    }
    return events;
  }

  @Test
  void everyOpIsASliceOrPartOfOne() {
    for (ScheduleRun run : RUNS) {
      Map<String, Integer> wanted = new HashMap<>();
      for (int rank = 0; rank < run.ranks(); rank++) {
        for (int i = 0; i < run.program(rank).length; i++) {
          long op = run.program(rank)[i];
          int process = Schedule.pass(op).exchanges() ? 2 : 1;
          String word = Schedule.pass(op).letter() + Schedule.microBatch(op);
          String at = " " + Math.round(run.start(rank, i) * 1e6);
          wanted.merge(process + "/" + (1 + rank) + " " + word + at, 1, Integer::sum);
        }
      }
      Map<String, Integer> found = new HashMap<>();
      for (JsonNode slice : events(run, "X")) {
        for (String word : slice.get("name").asString().split("\\+", -1)) {
          String at = " " + Math.round(slice.get("ts").asDouble());
          found.merge(track(slice) + " " + word + at, 1, Integer::sum);
        }
      }
      assertEquals(wanted, found);
    }
  }

  private static String track(JsonNode event) {
    return event.get("pid").asInt() + "/" + event.get("tid").asInt();
  }

  @Test
  void slicesOfATrackNeverOverlap() {
    for (ScheduleRun run : RUNS) {
      Map<String, Double> busyUntil = new HashMap<>();
      for (JsonNode slice : events(run, "X")) {
        double start = slice.get("ts").asDouble();
        assertTrue(start >= busyUntil.getOrDefault(track(slice), 0.0) - 1e-3, slice.toString());
        busyUntil.put(track(slice), start + slice.get("dur").asDouble());
      }
    }
  }

  @Test
  void everyMessageIsAnArrowBetweenItsOps() {
    Map<Integer, JsonNode> leaving = new HashMap<>();
    events(PLAIN, "s").forEach(event -> leaving.put(event.get("id").asInt(), event));
    List<JsonNode> arriving = events(PLAIN, "f");
    assertEquals(2 * 5 + 2 * 5, arriving.size()); // two cuts, five micro-batches, there and back
    assertEquals(arriving.size(), leaving.size());
    for (JsonNode to : arriving) {
      JsonNode from = Objects.requireNonNull(leaving.get(to.get("id").asInt()));
      JsonNode source = slice(PLAIN, from);
      JsonNode target = slice(PLAIN, to);
      boolean there = to.get("name").asString().equals("activations");
      assertEquals(from.get("name"), to.get("name"));
      assertEquals(source.get("name"), target.get("name"));
      assertEquals(
          source.get("args").get("stage").asInt() + (there ? 1 : -1),
          target.get("args").get("stage").asInt());
      double sent = source.get("ts").asDouble() + source.get("dur").asDouble();
      assertTrue(sent + 0.5e6 <= target.get("ts").asDouble() + 1e-3, to.toString());
    }
  }

  /** The slice around the end of an arrow. */
  private static JsonNode slice(ScheduleRun run, JsonNode end) {
    List<JsonNode> around =
        events(run, "X").stream()
            .filter(slice -> track(slice).equals(track(end)))
            .filter(slice -> slice.get("ts").asDouble() <= end.get("ts").asDouble())
            .filter(slice ->
                end.get("ts").asDouble() < slice.get("ts").asDouble() + slice.get("dur").asDouble())
            .toList();
    assertEquals(1, around.size(), end.toString());
    return around.get(0);
  }

  @Test
  void arrowsLeadForwardInTimeToAnotherRank() {
    for (ScheduleRun run : RUNS) {
      Map<Integer, JsonNode> leaving = new HashMap<>();
      events(run, "s").forEach(event -> leaving.put(event.get("id").asInt(), event));
      for (JsonNode to : events(run, "f")) {
        JsonNode from = Objects.requireNonNull(leaving.remove(to.get("id").asInt()));
        assertTrue(from.get("ts").asDouble() < to.get("ts").asDouble(), to.toString());
        assertNotEquals(from.get("tid"), to.get("tid"));
        slice(run, to);
      }
      assertTrue(leaving.isEmpty());
    }
  }

  @Test
  void whatIsTakenOverComesFromTheRankThatHadIt() {
    List<String> arrows =
        events(ScheduleRuns.ring(), "f").stream()
            .filter(event -> event.get("name").asString().equals("taken over"))
            .map(event -> slice(ScheduleRuns.ring(), event).get("name").asString())
            .sorted()
            .toList();
    assertEquals(List.of("H1", "H2", "H3", "H4", "H5"), arrows);
  }

  @Test
  void countersPeakAtWhatIsHeld() {
    for (ScheduleRun run : RUNS) {
      Map<String, Double> peaks =
          events(run, "C").stream()
              .collect(
                  Collectors.toMap(
                      event -> event.get("name").asString(),
                      event -> event.get("args").get("held").asDouble(),
                      Math::max));
      for (int rank = 0; rank < run.ranks(); rank++) {
        assertEquals(
            run.peaks()[rank], peaks.getOrDefault("activations of rank " + rank, -1.0), 1e-3);
      }
    }
  }

  @Test
  void ranksAreNamed() {
    List<String> names =
        events(ScheduleRuns.replicas(), "M").stream()
            .filter(event -> event.get("name").asString().equals("thread_name"))
            .map(event -> event.get("args").get("name").asString())
            .toList();
    assertEquals(List.of("rank 0", "rank 0", "rank 1", "rank 1"), names);
  }
}
