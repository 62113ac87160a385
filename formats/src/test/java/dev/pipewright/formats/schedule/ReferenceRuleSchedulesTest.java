package dev.pipewright.formats.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.InterleavedZeroBubble;
import dev.pipewright.schedule.LoopedBreadthFirst;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.OneForwardOneBackwardV;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.ZeroBubbleH2;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Orders, times and memory of schedules that follow a rule, as their own generators made them. */
class ReferenceRuleSchedulesTest {
  private static Path reference(String folder, String name) {
    @Nullable String root = System.getProperty("reference.dir");
    assumeTrue(root != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(root), folder, name);
    assumeTrue(Files.exists(file), "no reference schedules " + file);
    return file;
  }

  private static Schedule ours(String name, JsonNode params) {
    int p = params.get("p").asInt();
    int m = params.get("m").asInt();
    int chunks = params.get("chunks_per_rank").asInt();
    return switch (name) {
      case "gpipe" -> GPipe.of(p, m);
      case "1f1b" -> OneForwardOneBackward.of(p, m);
      case "1f1b-v" -> OneForwardOneBackwardV.of(p, m);
      case "interleaved-1f1b" -> Interleaved.of(p, chunks, m);
      case "interleaved-group2" -> Interleaved.grouped(p, chunks, m, 2);
      case "interleaved-group3" -> Interleaved.grouped(p, chunks, m, 3);
      case "interleaved-group4" -> Interleaved.grouped(p, chunks, m, 4);
      case "interleaved-zb1p-torch" -> InterleavedZeroBubble.of(p, chunks, m);
      case "zb-h1" -> ZeroBubbleH1.of(p, m);
      case "zb-h2" -> ZeroBubbleH2.of(p, m);
      default -> throw new IllegalArgumentException(name);
    };
  }

  private static String letter(Op.Pass pass) {
    return switch (pass) {
      case FORWARD -> "F";
      case BACKWARD -> "BW";
      case BACKWARD_INPUT -> "B";
      case BACKWARD_WEIGHT -> "W";
      case RECOMPUTE, UPDATE, REDUCE, GATHER, HAND_ON -> pass.letter();
    };
  }

  private static Run run(Schedule schedule, JsonNode params) {
    JsonNode each = params.get("times_per_chunk");
    return StaticSimulator.run(
        schedule,
        OpTimes.equal(
            schedule.stages(),
            each.get("F").asDouble(),
            each.get("B").asDouble(),
            each.get("W").asDouble(),
            each.get("comm").asDouble()));
  }

  private static void compareOps(JsonNode reference, Run run) {
    Schedule schedule = run.schedule();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      JsonNode theirs = reference.get("ranks").get(rank);
      List<Op> ours = schedule.program(rank);
      assertEquals(theirs.size(), ours.size());
      for (int i = 0; i < ours.size(); i++) {
        JsonNode op = theirs.get(i);
        String place = "%s, rank %d, op %d".formatted(reference.get("params"), rank, i);
        assertEquals(op.get(0).asString(), letter(ours.get(i).pass()), place);
        assertEquals(op.get(1).asInt(), ours.get(i).microBatch(), place);
        assertEquals(op.get(2).asInt(), ours.get(i).stage(), place);
        assertEquals(op.get(3).asDouble(), run.start(rank, i), 1e-9, place);
        assertEquals(op.get(4).asDouble(), run.end(rank, i), 1e-9, place);
      }
    }
  }

  /** Shares are recorded with six digits; the exact ones follow from times recorded in full. */
  private static void compareMetrics(JsonNode metrics, Run run) {
    double makespan = metrics.get("makespan").asDouble();
    double busy = 0;
    for (JsonNode rank : metrics.get("busy")) {
      busy += rank.asDouble() / metrics.get("busy").size();
    }
    double span = metrics.get("max_stage_span").asDouble();
    assertEquals(makespan, run.makespan(), 1e-9);
    assertEquals(1 - busy / makespan, run.idleShare(), 1e-9);
    assertEquals(span, run.longestSpan(), 1e-9);
    assertEquals(1 - busy / span, run.spanIdleShare(), 1e-9);
    assertEquals(metrics.get("bubble_makespan").asDouble(), run.idleShare(), 5.1e-7);
    assertEquals(metrics.get("bubble_zb").asDouble(), run.spanIdleShare(), 5.1e-7);
    List<Integer> peaks = new ArrayList<>();
    metrics.get("peak_act_chunks_release_at_W").forEach(peak -> peaks.add(peak.asInt()));
    assertEquals(peaks, Arrays.stream(run.peakActivations()).boxed().toList());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gpipe",
        "1f1b",
        "1f1b-v",
        "interleaved-1f1b",
        "interleaved-group2",
        "interleaved-group3",
        "interleaved-group4",
        "interleaved-zb1p-torch",
        "zb-h1",
        "zb-h2"
      })
  void everyOpTimeAndPeakIsTheSame(String name) {
    int compared = 0;
    Path file = reference("schedules", name + ".json");
    for (JsonNode reference : JsonMapper.shared().readTree(file.toFile())) {
      Run run = run(ours(name, reference.get("params")), reference.get("params"));
      compareOps(reference, run);
      compareMetrics(reference.get("metrics"), run);
      compared++;
    }
    assertTrue(compared >= 4, "cases: " + compared);
  }

  /** Rows of ops such as {@code 4F2}, empty where a rank waits. */
  private static List<String> rows(Path file) throws IOException {
    return Files.readAllLines(file).stream()
        .map(line -> line.replaceAll("[\", ]+", " ").strip())
        .toList();
  }

  private static List<String> rows(Schedule schedule) {
    List<String> rows = new ArrayList<>();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      List<String> ops = new ArrayList<>();
      schedule.program(rank).forEach(op -> ops.add(op.stage() + op.toString()));
      rows.add(String.join(" ", ops));
    }
    return rows;
  }

  @ParameterizedTest
  @CsvSource({"LoopedBFS", "Interleaved1F1B", "InterleavedZeroBubble"})
  void pyTorchsOrdersAreTheSame(String name) throws IOException {
    Schedule ours =
        switch (name) {
          case "LoopedBFS" -> LoopedBreadthFirst.of(4, 2, 8);
          case "Interleaved1F1B" -> Interleaved.of(4, 2, 8);
          default -> InterleavedZeroBubble.of(4, 2, 8);
        };
    Path file = reference("pytorch-csv", name + "_p4_m8_v2_compute_only.csv");
    assertEquals(rows(file), rows(ours));
  }
}
