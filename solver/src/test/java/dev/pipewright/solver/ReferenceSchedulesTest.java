package dev.pipewright.solver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.solver.ScheduleProblem.Goal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** No schedule that somebody else's generator made is better than ours under the same cap. */
class ReferenceSchedulesTest {
  private static JsonNode reference(String name) {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(folder), "schedules", name + ".json");
    assumeTrue(Files.exists(file), "no reference schedules " + file);
    return JsonMapper.shared().readTree(file.toFile());
  }

  private static ScheduleProblem problem(JsonNode run) {
    JsonNode params = run.get("params");
    JsonNode each = params.get("times_per_chunk");
    int ranks = params.get("p").asInt();
    int stages = params.get("stages").asInt();
    OpTimes times =
        OpTimes.equal(
            stages,
            each.get("F").asDouble(),
            each.get("B").asDouble(),
            each.get("W").asDouble(),
            each.get("comm").asDouble());
    int[] rankOf = new int[stages];
    Arrays.setAll(rankOf, s -> run.get("placement_stage_to_rank").get(String.valueOf(s)).asInt());
    int[] cap = new int[ranks];
    Arrays.setAll(cap, r -> run.at("/metrics/peak_act_chunks_release_at_W").get(r).asInt());
    boolean split = run.get("ranks").toString().contains("\"W\"");
    return new ScheduleProblem(
        Placement.of(ranks, 1, rankOf), params.get("m").asInt(), times, split, cap, Goal.MAKESPAN);
  }

  /** Up to 4 ranks and 8 micro-batches; several stages per rank with unit times only. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "gpipe",
        "1f1b",
        "zb-h1",
        "zb-h2",
        "zb1p-heuristic",
        "zb2p-heuristic",
        "1f1b-v",
        "interleaved-1f1b",
        "interleaved-zb1p-torch",
        "v-half",
        "v-min",
        "zb-v",
        "zb-v-torch",
        "v-adaptive-cap4"
      })
  void areNoFaster(String name) {
    int compared = 0;
    for (JsonNode run : reference(name)) {
      JsonNode params = run.get("params");
      boolean unit = params.at("/times_per_chunk/name").asString().equals("unit");
      boolean alone = params.get("chunks_per_rank").asInt() == 1;
      if (params.get("m").asInt() <= 8 && (unit || alone)) {
        var found =
            Answers.found(OptimalSchedule.of(problem(run), new SearchLimit(600, alone ? 60 : 1)));
        double makespan = run.at("/metrics/makespan").asDouble();
        assertTrue(found.optimal() || !alone, () -> params + ": " + found);
        assertTrue(found.value() <= makespan * (1 + 1e-9), () -> params + ": " + found);
        compared++;
      }
    }
    assertTrue(compared > 0);
  }

  /** The zero-bubble paper's settings of 8 ranks, under the memory of 1F1B. */
  @ParameterizedTest(name = "setting {0}")
  @ValueSource(ints = {0, 1, 2, 3, 4, 5})
  void thePublishedSchedulesWithTheMemoryOfOneForwardOneBackwardAreOptimal(int row) {
    JsonNode setting = reference("zero-bubble-paper-anchors").get(row);
    assertEquals(8, setting.get("p").asInt());
    ScheduleProblem problem = problemOf(setting).capped(8);
    SearchLimit limit = new SearchLimit(600, 60);
    var split = Answers.optimal(OptimalSchedule.of(problem, limit));
    assertEquals(setting.at("/zb1p/makespan").asDouble(), split.value());
    assertEquals(setting.at("/zb-h1/makespan").asDouble(), split.value());
    var whole = Answers.optimal(OptimalSchedule.of(problem.whole(), limit));
    assertEquals(setting.at("/1f1b/makespan").asDouble(), whole.value());
  }

  /** All of them, up to 32 ranks and 256 micro-batches: the closed bound meets ZB-H2. */
  @ParameterizedTest(name = "setting {0}")
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
  void thePublishedSchedulesWithTwiceThatMemoryAreOptimal(int row) {
    JsonNode setting = reference("zero-bubble-paper-anchors").get(row);
    ScheduleProblem problem = problemOf(setting).capped(2 * setting.get("p").asInt() - 1);
    var found = Answers.optimal(OptimalSchedule.of(problem, new SearchLimit(600, 60)));
    assertEquals(setting.at("/zb-h2/makespan").asDouble(), found.value());
  }

  private static ScheduleProblem problemOf(JsonNode setting) {
    OpTimes times =
        OpTimes.equal(
            setting.get("p").asInt(),
            setting.get("f").asDouble(),
            setting.get("b").asDouble(),
            setting.get("w").asDouble(),
            setting.get("c").asDouble());
    return ScheduleProblem.of(times, setting.get("m").asInt());
  }
}
