package dev.pipewright.formats.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.DualPipe;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Bidirectional orders and times made by the schedules' own generators. */
class ReferenceBothWaysSchedulesTest {
  private static final double DUST = 1e-9;
  private static final double PRINTED = 0.5000001e-6; // shares are written with six digits

  private static JsonNode reference(String name) {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(folder), "schedules", name);
    assumeTrue(Files.exists(file), "no reference schedules " + file);
    return JsonMapper.shared().readTree(file.toFile());
  }

  private static Schedule ours(JsonNode run) {
    int ranks = run.at("/params/p").asInt();
    int microBatches = run.at("/params/m").asInt();
    return switch (run.get("schedule").asString()) {
      case "dualpipe", "dualpipe-overlap" -> DualPipe.of(ranks, microBatches);
      case "dualpipev", "dualpipev-overlap" -> DualPipeV.of(ranks, microBatches);
      case "chimera-direct" -> Chimera.of(ranks, microBatches);
      default -> throw new AssertionError("no such schedule: " + run.get("schedule"));
    };
  }

  private static OpTimes times(JsonNode run, int stages) {
    JsonNode each = run.at("/params/times_per_chunk");
    OpTimes sum =
        OpTimes.equal(
            stages,
            each.get("F").asDouble(),
            each.get("B").asDouble(),
            each.get("W").asDouble(),
            each.get("comm").asDouble());
    boolean overlapped = run.at("/params/overlap_FB_duration").asString().equals("max");
    return overlapped ? sum.withOverlap() : sum;
  }

  /** An op with when it starts and ends; pairs start and end together. */
  private record Timed(Op op, boolean joined, double start, double end) {}

  private static List<Timed> program(Run run, int rank) {
    List<Timed> ops = new ArrayList<>();
    for (Op op : run.schedule().program(rank)) {
      int at = ops.size();
      boolean joined = Schedule.isJoined(run.schedule().packed(rank)[at]);
      ops.add(new Timed(op, joined, run.start(rank, at), run.end(rank, at)));
    }
    return ops;
  }

  /** Entries are [letters, micro-batch, stage, start, end, direction] or [FB, start, end, pair]. */
  private static List<Timed> program(JsonNode entries, int depth) {
    List<Timed> ops = new ArrayList<>();
    for (JsonNode entry : entries) {
      if (entry.get(0).asString().equals("FB")) {
        for (int i = 0; i < 2; i++) {
          JsonNode part = entry.get(3).get(i);
          Op op = op(part, direction(part, 3), depth);
          ops.add(new Timed(op, i == 0, entry.get(1).asDouble(), entry.get(2).asDouble()));
        }
      } else {
        Op op = op(entry, direction(entry, 5), depth);
        ops.add(new Timed(op, false, entry.get(3).asDouble(), entry.get(4).asDouble()));
      }
    }
    return ops;
  }

  private static int direction(JsonNode entry, int at) {
    return entry.size() > at ? entry.get(at).asInt() : 0;
  }

  private static Op op(JsonNode entry, int direction, int depth) {
    Op.Pass pass =
        switch (entry.get(0).asString()) {
          case "F" -> Op.Pass.FORWARD;
          case "B" -> Op.Pass.BACKWARD_INPUT;
          case "W" -> Op.Pass.BACKWARD_WEIGHT;
          case "BW" -> Op.Pass.BACKWARD;
          default -> throw new AssertionError("no such op: " + entry);
        };
    return new Op(pass, direction * depth + entry.get(2).asInt(), entry.get(1).asInt());
  }

  private static void assertSamePrograms(JsonNode reference, Run run) {
    int depth = run.schedule().placement().depth();
    assertEquals(reference.get("ranks").size(), run.schedule().ranks());
    for (int rank = 0; rank < run.schedule().ranks(); rank++) {
      List<Timed> theirs = program(reference.get("ranks").get(rank), depth);
      List<Timed> ours = program(run, rank);
      assertEquals(theirs.size(), ours.size());
      for (int i = 0; i < ours.size(); i++) {
        assertEquals(theirs.get(i).op(), ours.get(i).op());
        assertEquals(theirs.get(i).joined(), ours.get(i).joined());
        assertEquals(theirs.get(i).start(), ours.get(i).start(), DUST);
        assertEquals(theirs.get(i).end(), ours.get(i).end(), DUST);
      }
    }
  }

  private static void assertSameMetrics(JsonNode metrics, Run run) {
    assertEquals(metrics.get("makespan").asDouble(), run.makespan(), DUST);
    assertEquals(metrics.get("bubble_makespan").asDouble(), run.idleShare(), PRINTED);
    JsonNode peaks = metrics.get("peak_act_chunks_release_at_W");
    double busiest = 0;
    for (int rank = 0; rank < run.schedule().ranks(); rank++) {
      assertEquals(metrics.get("stage_span").get(rank).asDouble(), run.span(rank), DUST);
      assertEquals(metrics.get("busy").get(rank).asDouble(), run.busy(rank), DUST);
      assertEquals(peaks.get(rank).asInt(), run.peakActivations()[rank]);
      busiest = Math.max(busiest, run.busy(rank));
    }
    // overlapped pairs leave ranks unequally busy: theirs is the busiest rank's idle share
    assertEquals(metrics.get("bubble_zb").asDouble(), 1 - busiest / run.longestSpan(), PRINTED);
  }

  @ParameterizedTest
  @CsvSource({
    "dualpipe.json, 8",
    "dualpipe-overlap.json, 8",
    "dualpipev.json, 8",
    "dualpipev-overlap.json, 8",
    "chimera-direct.json, 1"
  })
  void ordersTimesAndMetricsAreTheSame(String name, int cases) {
    JsonNode references = reference(name);
    assertTrue(references.size() >= cases);
    for (JsonNode reference : references) {
      Schedule schedule = ours(reference);
      Run run = StaticSimulator.run(schedule, times(reference, schedule.stages()));
      assertSamePrograms(reference, run);
      assertSameMetrics(reference.get("metrics"), run);
    }
  }
}
