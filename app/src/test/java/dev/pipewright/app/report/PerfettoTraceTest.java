package dev.pipewright.app.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.trace.Timeline;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class PerfettoTraceTest {
  private static final Timeline TIMELINE = Pipelines.timeline(4, 8, 0.010, 0.020, 0.003, 0.025);
  private static final JsonNode EVENTS =
      PageReader.json(PerfettoTrace.of("four stages", TIMELINE)).get("traceEvents");

  @Test
  void holdsEverySlice() {
    assertEquals(Lanes.slices(TIMELINE), events("X").size());
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
    assertTrue(names.contains("stage 0 all-reduce"), names.toString());
    assertEquals(4, events("C").stream().map(e -> e.get("name")).distinct().count());
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
