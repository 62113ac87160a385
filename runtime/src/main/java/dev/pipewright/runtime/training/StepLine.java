package dev.pipewright.runtime.training;

import dev.pipewright.runtime.engine.StepReport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A worker's report of a step as a line of JSON; times are nanoseconds of its clock. */
final class StepLine {
  private static final JsonMapper JSON = new JsonMapper();

  private StepLine() {}

  static String of(StepReport report) {
    ObjectNode line = JSON.createObjectNode();
    line.put("step", report.step())
        .put("loss", Double.toString(report.loss())) // also where it is no number
        .put("correct", report.correct())
        .put("rows", report.rows())
        .put("update_started", report.updateStarted())
        .put("update_ended", report.updateEnded());
    put(line.putArray("waited"), report.waited());
    put(line.putArray("started"), report.started());
    put(line.putArray("ended"), report.ended());
    return line.toString();
  }

  private static void put(ArrayNode array, long[] values) {
    for (long value : values) {
      array.add(value);
    }
  }

  static StepReport parse(JsonNode line) {
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
}
