package dev.pipewright.app.report.timeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.chart.Look;
import dev.pipewright.app.report.page.PageReader;
import dev.pipewright.app.report.plan.Pipelines;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.Slice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class PerfettoTraceTest {
  private static final Shown PLAIN =
      ScheduleRuns.of(OneForwardOneBackward.of(3, 5), 1, OpTimes.equal(3, 1, 1, 1, 0.5));
  private static final List<Shown> RUNS =
      List.of(
          PLAIN,
          ScheduleRuns.of(DualPipeV.of(4, 10), 2),
          ScheduleRuns.ring(),
          ScheduleRuns.replicas());

  private static final Timeline TIMELINE = Pipelines.timeline(4, 8, 0.010, 0.020, 0.003, 0.025);
  private static final JsonNode EVENTS =
      PageReader.json(PerfettoTrace.of("four stages", TIMELINE)).get("traceEvents");

  @Test
  void holdsEverySlice() {
    assertEquals(Runs.of("all", TIMELINE).slices(), events("X").size());
    for (JsonNode slice : events("X")) {
      assertTrue(slice.get("dur").asDouble() > 0);
      assertTrue(slice.get("args").has("stage"));
    }
  }

  @Test
  void flowsComeInPairsThatLeadForwardInTime() {
    Map<Integer, JsonNode> starts = new HashMap<>();
    for (JsonNode start : events("s")) {
      assertTrue(starts.put(start.get("id").asInt(), start) == null, "each id starts once");
    }
    assertEquals(TIMELINE.flows().size(), starts.size());
    for (JsonNode end : events("f")) {
      JsonNode start = Objects.requireNonNull(starts.remove(end.get("id").asInt()));
      assertTrue(start.get("ts").asDouble() < end.get("ts").asDouble());
      assertEquals(start.get("name"), end.get("name"));
      assertEquals("e", end.get("bp").asString());
    }
    assertTrue(starts.isEmpty());
  }

  @Test
  void flowsBeginAndEndWithinASlice() {
    for (String phase : List.of("s", "f")) {
      for (JsonNode flow : events(phase)) {
        assertTrue(events("X").stream().anyMatch(slice -> encloses(slice, flow)), flow.toString());
      }
    }
  }

  @Test
  void eventsOfAThreadAreInOrderOfTime() {
    Map<String, Double> last = new HashMap<>();
    for (JsonNode event : EVENTS) {
      if (event.has("ts")) {
        String thread = event.get("pid") + "/" + event.get("tid");
        if (event.get("ph").asString().equals("C")) {
          thread = event.get("name").asString();
        }
        double before = last.getOrDefault(thread, 0.0);
        assertTrue(event.get("ts").asDouble() >= before, event.toString());
        last.put(thread, event.get("ts").asDouble());
      }
    }
  }

  @Test
  void namesProcessesThreadsAndCounters() {
    List<String> names = new ArrayList<>();
    for (JsonNode event : events("M")) {
      if (event.get("name").asString().endsWith("_name")) {
        names.add(event.get("args").get("name").asString());
      }
    }
    assertTrue(names.containsAll(List.of("compute", "communication")), names.toString());
    assertTrue(names.contains("stage 3, devices 6–7"), names.toString());
    assertTrue(names.contains("link 3 → 2"), names.toString());
    assertTrue(names.contains("stage 0 exchanges"), names.toString());
    assertEquals(4, events("C").stream().map(e -> e.get("name")).distinct().count());
  }

  private static List<JsonNode> events(Shown run, String phase) {
    List<JsonNode> events = new ArrayList<>();
    for (JsonNode event :
        PageReader.json(PerfettoTrace.of("runs", run.timeline())).get("traceEvents")) {
      if (event.get("ph").asString().equals(phase)) {
        events.add(event);
      }
    }
    return events;
  }

  @Test
  void everyOpIsASliceOrPartOfOne() {
    for (Shown run : RUNS) {
      Map<String, Integer> wanted = new HashMap<>();
      for (Lane.Compute lane : run.ranks()) {
        for (Slice slice : lane.slices()) {
          int process = slice.kind().exchanges() ? 2 : 1;
          String word = Look.of(slice.kind()).word + ' ' + slice.microBatch();
          String at = " " + Math.round(slice.start() * 1e6);
          wanted.merge(process + "/" + (1 + lane.rank()) + " " + word + at, 1, Integer::sum);
        }
      }
      Map<String, Integer> found = new HashMap<>();
      for (JsonNode slice : events(run, "X")) {
        for (String word : slice.get("name").asString().split(" \\+ ", -1)) {
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
    for (Shown run : RUNS) {
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
  private static JsonNode slice(Shown run, JsonNode end) {
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
    for (Shown run : RUNS) {
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
            .filter(event -> event.get("name").asString().equals("state"))
            .map(event -> slice(ScheduleRuns.ring(), event).get("name").asString())
            .sorted()
            .toList();
    assertEquals(IntStream.range(1, 6).mapToObj(turn -> "state received " + turn).toList(), arrows);
  }

  @Test
  void countersPeakAtWhatIsHeld() {
    for (Shown run : RUNS) {
      Map<String, Double> peaks =
          events(run, "C").stream()
              .collect(
                  Collectors.toMap(
                      event -> event.get("name").asString(),
                      event -> event.get("args").get("held").asDouble(),
                      Math::max));
      for (Memory memory : run.timeline().memory()) {
        String name = "activations of rank " + memory.rank();
        assertEquals(memory.peak(), peaks.getOrDefault(name, -1.0), 1e-3);
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
    assertEquals(List.of("rank 0", "rank 0 exchanges", "rank 1", "rank 1 exchanges"), names);
  }

  @Test
  void escapesNames() {
    String name = "<\"\\ & \n</script>";
    JsonNode trace = PageReader.json(PerfettoTrace.of(name, TIMELINE));
    assertEquals(name, trace.get("otherData").get("title").asString());
  }

  private static boolean encloses(JsonNode slice, JsonNode flow) {
    double start = slice.get("ts").asDouble();
    double ts = flow.get("ts").asDouble();
    return slice.get("pid").equals(flow.get("pid"))
        && slice.get("tid").equals(flow.get("tid"))
        && start <= ts
        && ts < start + slice.get("dur").asDouble();
  }

  private static List<JsonNode> events(String phase) {
    List<JsonNode> events = new ArrayList<>();
    for (JsonNode event : EVENTS) {
      if (event.get("ph").asString().equals(phase)) {
        events.add(event);
      }
    }
    return events;
  }
}
