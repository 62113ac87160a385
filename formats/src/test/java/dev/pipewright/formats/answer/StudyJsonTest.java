package dev.pipewright.formats.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.predict.paradl.BatchScaling;
import dev.pipewright.predict.paradl.Bottleneck;
import dev.pipewright.predict.paradl.Finding;
import dev.pipewright.predict.paradl.Layout;
import dev.pipewright.predict.paradl.MemoryUse;
import dev.pipewright.predict.paradl.Phase;
import dev.pipewright.predict.paradl.Phases;
import dev.pipewright.predict.paradl.Prediction.Impossible;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.ScalingLimit;
import dev.pipewright.predict.paradl.Setting;
import dev.pipewright.predict.paradl.Strategy;
import dev.pipewright.predict.paradl.Studies;
import dev.pipewright.predict.paradl.Study;
import dev.pipewright.predict.paradl.Study.Crossover;
import dev.pipewright.predict.paradl.Study.Resource;
import dev.pipewright.predict.paradl.Study.Sensitivity;
import dev.pipewright.profile.Profile;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What {@code predict --json} writes, to the letter and for a whole study. */
class StudyJsonTest {
  private static JsonNode read(Study study) {
    String text = StudyJson.text(study, "alexnet", "abci", "roofline", alexNet());
    return JsonMapper.shared().readTree(text);
  }

  private static Workload alexNet() {
    ZooModel zoo = Models.find("alexnet").orElseThrow();
    Cluster cluster = Clusters.find("abci").orElseThrow();
    Profile profile = Roofline.profile(zoo.graph(), cluster, zoo.training(), List.of(1));
    return new Workload(Chain.of(zoo.graph()), profile, zoo.training(), cluster);
  }

  /** Two rows whose numbers can be told apart. */
  private static Study small() {
    Phases phases = Phases.none();
    double seconds = 1;
    for (Phase phase : Phase.values()) {
      phases = phases.with(phase, seconds);
      seconds *= 2;
    }
    ScalingLimit limit = new ScalingLimit("scaling", 4096, "a sample each");
    Finding finding = new Finding(Bottleneck.GRADIENT_EXCHANGE, 0.5, "so it is", "do that");
    Predicted predicted =
        new Predicted(
            Layout.spatial(Strategy.DATA_SPATIAL, 16, List.of(2, 2)),
            4096,
            OptionalLong.of(10_000),
            phases,
            new MemoryUse(1, 2, 4, 8, 16.4),
            31.4,
            List.of(limit),
            List.of(finding),
            Optional.empty());
    Impossible impossible =
        new Impossible(
            Strategy.SERIAL, 64, 4096, List.of(new ScalingLimit("scaling", 1, "one")), "no");
    return new Study(
        List.of(Strategy.DATA_SPATIAL, Strategy.SERIAL),
        List.of(64),
        List.of(predicted, impossible),
        List.of(new Crossover(64, Optional.empty(), Strategy.DATA_SPATIAL, 1)),
        List.of(new Sensitivity(Resource.BANDWIDTH, 0.5, Optional.empty(), 0, true)));
  }

  @Test
  void aRowHasEveryNumberUnderItsName() {
    JsonNode row = read(small()).get("rows").get(0);
    assertEquals(
        JsonMapper.shared()
            .readTree(
                """
                {"strategy": "data+spatial", "devices": 64, "global_batch": 4096,
                 "layout": "16 × 2×2", "micro_batch_per_rank": 256, "iteration_s": 255.0, "epoch_s": 765.0,
                 "samples_per_s": 16.062745098039215, "tflops_per_device": 0.0010405017077960784,
                 "mfu": 6.627399412713876E-5, "compute_s": 7.0, "communication_s": 248.0,
                 "phases": {"forward_backward_s": 1.0, "waiting_s": 2.0, "weight_update_s": 4.0,
                   "layer_allgather_s": 8.0, "layer_allreduce_s": 16.0, "halo_s": 32.0,
                   "point_to_point_s": 64.0, "gradient_allreduce_s": 128.0},
                 "memory_bytes": 31,
                 "memory": {"weights_bytes": 1, "gradients_bytes": 2, "optimizer_bytes": 4,
                   "activations_bytes": 8, "buffers_bytes": 16},
                 "capacity_bytes": 31, "fits": true,
                 "limits": [{"kind": "scaling", "max_devices": 4096, "why": "a sample each"}],
                 "bottlenecks": ["gradient-exchange"],
                 "findings": [{"bottleneck": "gradient-exchange", "number": 0.5,
                   "what": "so it is", "help": "do that"}]}
                """)
            .toPrettyString(),
        row.toPrettyString());
  }

  @Test
  void aStrategyThatCannotIsARowThatSaysWhy() {
    JsonNode row = read(small()).get("rows").get(1);
    assertEquals("serial", row.get("strategy").asString());
    assertTrue(row.get("iteration_s").isNull());
    assertFalse(row.get("fits").asBoolean());
    assertEquals("no", row.get("why_not").asString());
    assertEquals(1, row.at("/limits/0/max_devices").asInt());
    assertFalse(row.has("phases"));
  }

  @Test
  void theRestOfTheStudyIsThere() {
    JsonNode answer = read(small());
    assertEquals("alexnet", answer.get("model").asString());
    assertEquals("abci", answer.get("cluster").asString());
    assertEquals("roofline", answer.get("profile").asString());
    assertEquals("data+spatial", answer.at("/ranking/0/strategies/0").asString());
    assertEquals(64, answer.at("/ranking/0/devices").asInt());
    assertEquals(1, answer.at("/ranking/0/strategies").size());
    assertTrue(answer.at("/crossovers/0/before").isNull());
    assertEquals("data+spatial", answer.at("/crossovers/0/after").asString());
    assertEquals("network bandwidth", answer.at("/sensitivity/0/resource").asString());
    assertEquals(0.5, answer.at("/sensitivity/0/factor").asDouble());
    assertTrue(answer.at("/sensitivity/0/choice").isNull());
    assertTrue(answer.at("/sensitivity/0/changes").asBoolean());
  }

  /** AlexNet on every number of devices up to 8: sums that must hold in every row. */
  @Test
  void timesAndBytesOfEveryRowAddUp() {
    ZooModel zoo = Models.find("alexnet").orElseThrow();
    Cluster cluster = Clusters.find("abci:2x4").orElseThrow();
    Profile profile =
        Roofline.profile(zoo.graph(), cluster.device(0), zoo.training(), List.of(1, 64));
    Workload workload = new Workload(Chain.of(zoo.graph()), profile, zoo.training(), cluster);
    Study study =
        Studies.of(
            Setting.of(workload, 10_000),
            List.of(Strategy.values()),
            List.of(1, 2, 3, 4, 8),
            BatchScaling.perDevice(32));
    JsonNode rows = read(study).get("rows");
    assertEquals(5 * Strategy.values().length, rows.size());
    int predicted = 0;
    for (JsonNode row : rows) {
      assertTrue(row.get("limits").size() > 0, row.toString());
      if (!row.get("iteration_s").isNull()) {
        addsUp(row);
        predicted++;
      }
    }
    assertTrue(predicted > 40, "rows with times: " + predicted);
  }

  private static void addsUp(JsonNode row) {
    double iteration = row.get("iteration_s").asDouble();
    double phases = 0;
    for (JsonNode seconds : row.get("phases")) {
      assertTrue(seconds.asDouble() >= 0, row.toString());
      phases += seconds.asDouble();
    }
    near(iteration, phases);
    near(iteration, row.get("compute_s").asDouble() + row.get("communication_s").asDouble());
    double batch = row.get("global_batch").asDouble();
    near(batch / iteration, row.get("samples_per_s").asDouble());
    near(Math.ceil(10_000 / batch) * iteration, row.get("epoch_s").asDouble());
    long bytes = 0;
    for (JsonNode use : row.get("memory")) {
      bytes += use.asLong();
    }
    long rounded = Math.abs(row.get("memory_bytes").asLong() - bytes);
    assertTrue(rounded <= 3, "bytes that rounding does not explain: " + rounded);
    assertEquals(
        row.get("memory_bytes").asLong() <= row.get("capacity_bytes").asLong(),
        row.get("fits").asBoolean());
    assertEquals(row.get("bottlenecks").size(), row.get("findings").size());
  }

  private static void near(double expected, double actual) {
    assertEquals(expected, actual, 1e-12 * expected);
  }
}
