package dev.pipewright.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.Validator;
import dev.pipewright.schedule.timed.AdaptiveV;
import dev.pipewright.schedule.timed.OpTimes;
import dev.pipewright.schedule.timed.ZeroBubbleAuto;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Searched schedules are no slower than those of the schedules' own generators. */
class ReferenceSearchSchedulesTest {
  private static JsonNode reference(String name) {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(folder), "schedules", name);
    assumeTrue(Files.exists(file), "no reference schedules " + file);
    return JsonMapper.shared().readTree(file.toFile());
  }

  private static Schedule zeroBubble(OpTimes times, int microBatches, int cap, double kept) {
    int[] caps = new int[times.forward().length];
    Arrays.fill(caps, cap);
    return ZeroBubbleAuto.of(microBatches, times, caps, kept);
  }

  private static Schedule adaptive(OpTimes times, int microBatches, int cap) {
    return AdaptiveV.of(microBatches, times, cap);
  }

  private static void noWorse(JsonNode run, double slack) {
    JsonNode params = run.get("params");
    JsonNode each = params.get("times_per_chunk");
    int chunks = params.get("chunks_per_rank").asInt();
    int microBatches = params.get("m").asInt();
    OpTimes times =
        OpTimes.equal(
            params.get("p").asInt() * chunks,
            each.get("F").asDouble(),
            each.get("B").asDouble(),
            each.get("W").asDouble(),
            each.get("comm").asDouble());
    int cap = 0;
    for (JsonNode peak : run.at("/metrics/peak_act_chunks_release_at_W")) {
      cap = Math.max(cap, peak.asInt());
    }
    Schedule ours =
        chunks == 1 ? zeroBubble(times, microBatches, cap, 1) : adaptive(times, microBatches, cap);
    assertEquals(List.of(), Validator.check(ours));
    Run result = StaticSimulator.run(ours, times);
    assertTrue(Arrays.stream(result.peakActivations()).max().orElseThrow() <= cap);
    double makespan = run.at("/metrics/makespan").asDouble();
    double span = run.at("/metrics/max_stage_span").asDouble();
    double busy = result.busy(0);
    assertTrue(result.makespan() <= makespan * (1 + slack + 1e-9), () -> "makespan: " + params);
    assertTrue(
        busy / (1 - result.spanIdleShare()) <= span * (1 + slack + 1e-9), () -> "span: " + params);
  }

  /** The slack is what the worst row of a file misses; none for most. */
  @ParameterizedTest
  @CsvSource({
    "zb1p-heuristic, 0",
    "zb2p-heuristic, 0.0004",
    "zb-v, 0.0126",
    "v-half, 0",
    "v-min, 0",
    "v-adaptive-cap4, 0",
    "v-adaptive-cap5, 0.018",
    "v-adaptive-cap6, 0",
    "v-adaptive-cap7, 0",
    "v-adaptive-cap8, 0"
  })
  void isNoSlowerWithNoMoreMemory(String name, double slack) {
    int compared = 0;
    for (JsonNode run : reference(name + ".json")) {
      noWorse(run, slack);
      compared++;
    }
    assertTrue(compared >= 2);
  }

  /** Rates have four digits there; memory is partly free after the input's gradient. */
  @ParameterizedTest
  @CsvSource({"zb1p, 1, 0", "zb2p, 2, 0.0003"})
  void theZeroBubblePapersSettingsHaveNoLargerBubble(String name, int caps, double slack) {
    for (JsonNode setting : reference("zero-bubble-paper-anchors.json")) {
      int stages = setting.get("p").asInt();
      int microBatches = setting.get("m").asInt();
      double forward = setting.get("f").asDouble();
      double input = setting.get("b").asDouble();
      double weight = setting.get("w").asDouble();
      OpTimes times = OpTimes.equal(stages, forward, input, weight, setting.get("c").asDouble());
      JsonNode memory = setting.get("mem");
      double kept = caps == 1 ? 1 : -memory.get(2).asDouble() / memory.get(0).asDouble();
      Schedule ours = zeroBubble(times, microBatches, caps * stages, kept);
      Run result = StaticSimulator.run(ours, times);
      JsonNode theirs = setting.get(name);
      assertTrue(result.spanIdleShare() <= theirs.get("bubble_zb").asDouble() + 5e-5 + slack);
      assertTrue(result.makespan() <= theirs.get("makespan").asDouble() * (1 + 1e-9));
    }
  }
}
