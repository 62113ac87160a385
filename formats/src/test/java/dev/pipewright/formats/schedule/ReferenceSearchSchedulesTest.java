package dev.pipewright.formats.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.search.AdaptiveV;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.schedule.search.ZeroBubbleAuto;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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

  private static Schedule zeroBubble(OpTimes times, int microBatches, double cap, double kept) {
    double[] caps = new double[times.forward().length];
    Arrays.fill(caps, cap);
    return ZeroBubbleAuto.of(microBatches, times, caps, kept);
  }

  private static Schedule adaptive(OpTimes times, int microBatches, int cap) {
    return AdaptiveV.of(microBatches, times, cap);
  }

  private static void noWorse(JsonNode run) {
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
    assertTrue(result.makespan() <= makespan * (1 + 1e-9), () -> "makespan: " + params);
    assertTrue(result.longestSpan() <= span * (1 + 1e-9), () -> "span: " + params);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "zb1p-heuristic",
        "zb2p-heuristic",
        "zb-v",
        "v-half",
        "v-min",
        "v-adaptive-cap4",
        "v-adaptive-cap5",
        "v-adaptive-cap6",
        "v-adaptive-cap7",
        "v-adaptive-cap8"
      })
  void isNoSlowerWithNoMoreMemory(String name) {
    int compared = 0;
    for (JsonNode run : reference(name + ".json")) {
      noWorse(run);
      compared++;
    }
    assertTrue(compared >= 2);
  }

  private static final double ROUNDED = 5e-5; // rates have four digits there
  private static final double ROUNDED_PEAK = 5e-3; // and peaks two

  /** Memory is partly free after the input's gradient; ours has as much as theirs holds. */
  @ParameterizedTest
  @ValueSource(strings = {"zb1p", "zb2p"})
  void theZeroBubblePapersSettingsHaveNoLargerBubbleWithNoMoreMemory(String name) {
    for (JsonNode setting : reference("zero-bubble-paper-anchors.json")) {
      JsonNode memory = setting.get("mem");
      double kept = -memory.get(2).asDouble() / memory.get(0).asDouble();
      OpTimes times = times(setting, setting.get("p").asInt());
      double cap = setting.get(name).get("peak_in_F_units").asDouble() + ROUNDED_PEAK;
      Schedule ours = zeroBubble(times, setting.get("m").asInt(), cap, kept);
      String place = name + " " + setting;
      assertEquals(List.of(), Validator.check(ours), place);
      assertTrue(most(ours, kept) <= cap + 1e-9, place);
      noLarger(StaticSimulator.run(ours, times), setting.get(name), place);
    }
  }

  /** The most that any rank holds, in activations that input gradients free in part. */
  private static double most(Schedule schedule, double kept) {
    double most = 0;
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      double held = 0;
      for (long op : schedule.packed(rank)) {
        held +=
            switch (Schedule.pass(op)) {
              case FORWARD -> 1;
              case BACKWARD_INPUT -> kept - 1;
              default -> -kept;
            };
        most = Math.max(most, held);
      }
    }
    return most;
  }

  @ParameterizedTest
  @ValueSource(strings = {"zbv", "v-half", "v-min"})
  void onAVThePapersSettingsHaveNoLargerBubble(String name) {
    int compared = 0;
    for (JsonNode setting : reference("zero-bubble-paper-anchors.json")) {
      @Nullable JsonNode theirs = setting.get(name);
      if (theirs == null) {
        continue;
      }
      OpTimes times = times(setting, 2 * setting.get("p").asInt());
      int cap = (int) theirs.get("peak_in_F_units").asDouble();
      Run result = StaticSimulator.run(adaptive(times, setting.get("m").asInt(), cap), times);
      assertTrue(Arrays.stream(result.peakActivations()).max().orElseThrow() <= cap);
      noLarger(result, theirs, name + " " + setting);
      compared++;
    }
    assertTrue(compared >= 9);
  }

  private static OpTimes times(JsonNode setting, int stages) {
    return OpTimes.equal(
        stages,
        setting.get("f").asDouble(),
        setting.get("b").asDouble(),
        setting.get("w").asDouble(),
        setting.get("c").asDouble());
  }

  private static void noLarger(Run ours, JsonNode theirs, String place) {
    assertTrue(ours.spanIdleShare() <= theirs.get("bubble_zb").asDouble() + ROUNDED, place);
    assertTrue(ours.makespan() <= theirs.get("makespan").asDouble() * (1 + 1e-9), place);
  }
}
