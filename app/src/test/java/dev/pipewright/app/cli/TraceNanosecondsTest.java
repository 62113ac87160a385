package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.schedule.ScheduleNames;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Perfetto counts nanoseconds, rounded or cut off as its version has it, and drops overlaps. */
class TraceNanosecondsTest {
  @TempDir private Path folder;

  private static long rounded(JsonNode micros) {
    return Math.round(micros.asDouble() * 1000);
  }

  private static long cutOff(JsonNode micros) {
    return (long) (micros.asDouble() * 1000);
  }

  static Stream<String> names() {
    return Stream.concat(ScheduleNames.all().stream(), ScheduleNames.forms().stream())
        .filter(name -> !name.equals(ScheduleNames.SEARCHED)); // whose times are whole ticks
  }

  private static Stream<JsonNode> slices(JsonNode trace) {
    return trace
        .get("traceEvents")
        .valueStream()
        .filter(event -> event.get("ph").asString().equals("X"));
  }

  private static String track(JsonNode slice) {
    return slice.get("pid") + "/" + slice.get("tid");
  }

  /** Returns the slices' nanoseconds. */
  private static long checkApart(JsonNode trace, ToLongFunction<JsonNode> nanoseconds) {
    Map<String, Long> ends = new HashMap<>();
    slices(trace)
        .forEach(slice -> {
          long start = nanoseconds.applyAsLong(slice.get("ts"));
          long end = start + nanoseconds.applyAsLong(slice.get("dur"));
          assertTrue(start >= ends.getOrDefault(track(slice), 0L), slice.toString());
          assertTrue(end >= start, slice.toString());
          ends.put(track(slice), end);
        });
    assertFalse(ends.isEmpty());
    return slices(trace).mapToLong(slice -> nanoseconds.applyAsLong(slice.get("dur"))).sum();
  }

  private static JsonNode trace(Path file) {
    return new JsonMapper().readTree(Cli.text(file));
  }

  @ParameterizedTest
  @MethodSource("names")
  void slicesOfASchedulesTrackNeverOverlap(String name) {
    Path file = folder.resolve("trace.json");
    Cli.schedule(
            name,
            4,
            8,
            "--times",
            "0.0010000007,0.0012345678,0.0007654321,0.0000123456",
            "--trace",
            file.toString())
        .ends(0);
    JsonNode trace = trace(file);
    checkApart(trace, TraceNanosecondsTest::rounded);
    checkApart(trace, TraceNanosecondsTest::cutOff);
  }

  @Test
  void noTimeIsLostOrAddedByRounding() {
    Path file = folder.resolve("trace.json");
    Cli.schedule("1f1b", 4, 100, "--times", "3.4e-9,3.4e-9,0,0", "--trace", file.toString())
        .ends(0);
    long nanoseconds = checkApart(trace(file), TraceNanosecondsTest::rounded);
    assertEquals(
        4 * 100 * 2 * 3.4, (double) nanoseconds, 4 * 7); // each run of ops loses one at most
  }

  @ParameterizedTest
  @ValueSource(strings = {"dapple", "data", "straight"})
  void slicesOfAPlansTrackNeverOverlap(String planner) {
    String model =
        Cli.file(folder, "model.txt", Cli.smallGraph().replace("time=2,", "time=2.0007001,"))
            .toString();
    String cluster = Cli.file(folder, "cluster.yaml", Cli.cluster()).toString();
    Path out = folder.resolve("out");
    Cli.run(
            "plan",
            model,
            "--cluster",
            cluster,
            "--global-batch",
            "28",
            "--profile-batch",
            "3",
            "--micro-batch",
            "1",
            "--planner",
            planner,
            "--out",
            out.toString())
        .ends(0);
    checkApart(trace(out.resolve("trace.json")), TraceNanosecondsTest::rounded);
    checkApart(trace(out.resolve("trace.json")), TraceNanosecondsTest::cutOff);
    Path again = folder.resolve("again");
    Cli.run("simulate", out.resolve("plan.json").toString(), "--out", again.toString()).ends(0);
    checkApart(trace(again.resolve("trace.json")), TraceNanosecondsTest::rounded);
    checkApart(trace(again.resolve("trace.json")), TraceNanosecondsTest::cutOff);
  }
}
