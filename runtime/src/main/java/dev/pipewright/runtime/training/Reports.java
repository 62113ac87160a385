package dev.pipewright.runtime.training;

import dev.pipewright.runtime.checkpoint.Manifest;
import dev.pipewright.runtime.engine.Answers;
import dev.pipewright.runtime.engine.StepReport;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What a worker reports, as lines of JSON; times are nanoseconds of its clock. */
final class Reports {
  private static final JsonMapper JSON = new JsonMapper();

  private Reports() {}

  static String steps(List<StepReport> reports) {
    ObjectNode line = JSON.createObjectNode();
    ArrayNode steps = line.putArray("steps");
    reports.forEach(report -> put(steps.addObject(), report));
    return line.toString();
  }

  private static void put(ObjectNode object, StepReport report) {
    object
        .put("step", report.step())
        .put("loss", Double.toString(report.loss())) // also where it is no number
        .put("correct", report.correct())
        .put("rows", report.rows())
        .put("update_started", report.updateStarted())
        .put("update_ended", report.updateEnded());
    put(object.putArray("waited"), report.waited());
    put(object.putArray("started"), report.started());
    put(object.putArray("ended"), report.ended());
  }

  private static void put(ArrayNode array, long[] values) {
    for (long value : values) {
      array.add(value);
    }
  }

  static List<StepReport> steps(JsonNode line) {
    return line.get("steps").valueStream().map(Reports::step).toList();
  }

  private static StepReport step(JsonNode line) {
    return new StepReport(
        line.get("step").asLong(),
        Double.parseDouble(line.get("loss").asString()),
        line.get("correct").asLong(),
        line.get("rows").asLong(),
        Job.longs(line.get("waited")),
        Job.longs(line.get("started")),
        Job.longs(line.get("ended")),
        line.get("update_started").asLong(),
        line.get("update_ended").asLong());
  }

  static String heldOut(long step, Answers answers) {
    return JSON.createObjectNode()
        .put("held_out", step)
        .put("loss", Double.toString(answers.loss()))
        .put("correct", answers.correct())
        .put("rows", answers.rows())
        .toString();
  }

  static Answers answers(JsonNode line) {
    return new Answers(
        Double.parseDouble(line.get("loss").asString()),
        line.get("correct").asLong(),
        line.get("rows").asLong());
  }

  static String shard(Manifest.Shard shard) {
    return JSON.createObjectNode()
        .put("shard", shard.file())
        .put("bytes", shard.bytes())
        .put("checksum", shard.checksum())
        .toString();
  }

  static Manifest.Shard shard(JsonNode line) {
    return new Manifest.Shard(
        line.get("shard").asString(), line.get("bytes").asLong(), line.get("checksum").asInt());
  }

  /** What tensors take up over a step, from its first op on. */
  static String memory(long step, List<MemoryRecord.Sample> samples) {
    ObjectNode line = JSON.createObjectNode().put("memory_of", step);
    ArrayNode array = line.putArray("samples");
    for (MemoryRecord.Sample sample : samples) {
      ObjectNode object = array.addObject();
      object.put("nanoseconds", sample.nanoseconds() - samples.get(0).nanoseconds());
      object.put("all", sample.all());
      put(object.putArray("bytes"), sample.bytes());
    }
    return line.toString();
  }

  static String memory(long peak) {
    return JSON.createObjectNode().put("peak_bytes", peak).toString();
  }
}
