package dev.pipewright.formats.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.schedule.Diagram;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Orders and times made by the schedules' own generators. */
class ReferenceSchedulesTest {
  private static JsonNode reference(String name) {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(folder), "schedules", name);
    assumeTrue(Files.exists(file), "no reference schedules " + file);
    return JsonMapper.shared().readTree(file.toFile());
  }

  private static Schedule ours(PipelinePolicy policy, JsonNode run) {
    int stages = run.at("/params/p").asInt();
    int microBatches = run.at("/params/m").asInt();
    return policy.schedule(microBatches, policy.inFlight(stages, microBatches));
  }

  /** Backward passes are whole there: {@code BW}. */
  private static String diagram(JsonNode run) {
    StringBuilder text = new StringBuilder();
    int rank = 0;
    for (JsonNode program : run.get("ranks")) {
      text.append(rank++).append(" |");
      for (JsonNode op : program) {
        text.append(' ').append(op.get(0).asString().charAt(0)).append(op.get(1).asInt());
      }
      text.append('\n');
    }
    return text.toString();
  }

  private static OpTimes times(JsonNode run) {
    JsonNode each = run.at("/params/times_per_chunk");
    int stages = run.at("/params/p").asInt();
    double[] transfer = new double[stages];
    Arrays.fill(transfer, 0, stages - 1, each.get("comm").asDouble());
    double[] forward = new double[stages];
    double[] backward = new double[stages];
    Arrays.fill(forward, each.get("F").asDouble());
    Arrays.fill(backward, each.get("B").asDouble() + each.get("W").asDouble());
    return OpTimes.whole(forward, backward, transfer, transfer);
  }

  @ParameterizedTest
  @CsvSource({"1f1b.json, A", "gpipe.json, ALL"})
  void ordersAreTheSame(String name, PipelinePolicy policy) {
    for (JsonNode run : reference(name)) {
      assertEquals(
          diagram(run), Diagram.of(ours(policy, run)), () -> "params: " + run.get("params"));
    }
  }

  @ParameterizedTest
  @CsvSource({"1f1b.json, A", "gpipe.json, ALL"})
  void everyOpEndsAtTheSameTime(String name, PipelinePolicy policy) {
    int compared = 0;
    for (JsonNode reference : reference(name)) {
      Run run = StaticSimulator.run(ours(policy, reference), times(reference));
      assertEquals(reference.at("/metrics/makespan").asDouble(), run.makespan(), 1e-9);
      for (JsonNode program : reference.get("ranks")) {
        for (JsonNode op : program) {
          boolean forward = op.get(0).asString().equals("F");
          int stage = op.get(2).asInt();
          Op ours = new Op(forward ? Pass.FORWARD : Pass.BACKWARD, stage, op.get(1).asInt());
          int at = run.schedule().program(stage).indexOf(ours);
          assertEquals(op.get(4).asDouble(), run.end(stage, at), 1e-9);
          compared++;
        }
      }
    }
    assertTrue(compared > 100);
  }
}
