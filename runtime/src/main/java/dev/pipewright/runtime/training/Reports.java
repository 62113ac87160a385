package dev.pipewright.runtime.training;

import dev.pipewright.runtime.checkpoint.Manifest;
import dev.pipewright.runtime.engine.LiveBytes.Kind;
import dev.pipewright.runtime.engine.Score;
import dev.pipewright.runtime.engine.StepReport;
import java.net.ProtocolException;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a worker reports, as lines of JSON; times are nanoseconds of its clock. A text that is no
 * such report is a {@link ProtocolException}, which says what is wrong with it.
 */
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

  /** What was reported, not yet looked at. */
  static JsonNode line(String text) throws ProtocolException {
    try {
      JsonNode line = JSON.readTree(text);
      if (line.isObject()) {
        return line;
      }
      throw new ProtocolException("its report is no object");
    } catch (JacksonException e) {
      throw new ProtocolException("its report is no JSON");
    }
  }

  static void require(boolean holds, String field) throws ProtocolException {
    if (!holds) {
      throw new ProtocolException("the field " + field + " of its report makes no sense");
    }
  }

  static long whole(JsonNode line, String field) throws ProtocolException {
    return whole(line.path(field), field, Long.MIN_VALUE);
  }

  private static long whole(JsonNode value, String field, long least) throws ProtocolException {
    require(value.isIntegralNumber() && value.canConvertToLong(), field);
    require(value.longValue() >= least, field);
    return value.longValue();
  }

  private static long count(JsonNode line, String field) throws ProtocolException {
    return whole(line.path(field), field, 0);
  }

  private static double loss(JsonNode line) throws ProtocolException {
    try {
      require(line.path("loss").isString(), "loss");
      return Double.parseDouble(line.path("loss").stringValue());
    } catch (NumberFormatException e) {
      throw new ProtocolException("the loss of its report is no number");
    }
  }

  private static long[] wholes(JsonNode line, String field) throws ProtocolException {
    JsonNode array = line.path(field);
    require(array.isArray(), field);
    long[] values = new long[array.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = whole(array.get(i), field, Long.MIN_VALUE);
    }
    return values;
  }

  /** A step as a question names it. */
  static long step(String text) throws ProtocolException {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new ProtocolException("it asks for '" + text + "'");
    }
  }

  static List<StepReport> steps(JsonNode line) throws ProtocolException {
    JsonNode steps = line.path("steps");
    require(steps.isArray(), "steps");
    List<StepReport> reports = new ArrayList<>();
    for (JsonNode step : steps) {
      reports.add(step(step));
    }
    return reports;
  }

  private static StepReport step(JsonNode line) throws ProtocolException {
    StepReport report =
        new StepReport(
            count(line, "step"),
            loss(line),
            count(line, "correct"),
            count(line, "rows"),
            wholes(line, "waited"),
            wholes(line, "started"),
            wholes(line, "ended"),
            whole(line, "update_started"),
            whole(line, "update_ended"));
    require(report.started().length == report.waited().length, "started");
    require(report.ended().length == report.waited().length, "ended");
    return report;
  }

  static String heldOut(long step, Score answers) {
    return JSON.createObjectNode()
        .put("held_out", step)
        .put("loss", Double.toString(answers.loss()))
        .put("correct", answers.correct())
        .put("rows", answers.rows())
        .toString();
  }

  static Score answers(JsonNode line) throws ProtocolException {
    return new Score(loss(line), count(line, "correct"), count(line, "rows"));
  }

  static String shard(Manifest.Shard shard) {
    return JSON.createObjectNode()
        .put("shard", shard.file())
        .put("bytes", shard.bytes())
        .put("checksum", shard.checksum())
        .toString();
  }

  static Manifest.Shard shard(JsonNode line) throws ProtocolException {
    JsonNode file = line.path("shard");
    require(file.isString(), "shard");
    long checksum = whole(line, "checksum");
    require(checksum == (int) checksum, "checksum");
    return new Manifest.Shard(file.stringValue(), count(line, "bytes"), (int) checksum);
  }

  /** What tensors take up over a step, from its first op on. */
  static String memory(long step, List<MemoryRecord.Sample> samples) {
    ObjectNode line = JSON.createObjectNode().put("memory_of", step);
    ArrayNode array = line.putArray("samples");
    for (MemoryRecord.Sample sample : samples) {
      ObjectNode object = array.addObject();
      object.put("nanoseconds", sample.nanoseconds() - samples.get(0).nanoseconds());
      put(object.putArray("bytes"), sample.bytes());
    }
    return line.toString();
  }

  static List<MemoryRecord.Sample> samples(JsonNode line) throws ProtocolException {
    List<MemoryRecord.Sample> samples = new ArrayList<>();
    require(line.path("samples").isArray(), "samples");
    for (JsonNode sample : line.path("samples")) {
      long[] bytes = wholes(sample, "bytes");
      require(bytes.length == Kind.values().length, "bytes");
      samples.add(new MemoryRecord.Sample(count(sample, "nanoseconds"), bytes));
    }
    return samples;
  }

  static String memory(long peak) {
    return JSON.createObjectNode().put("peak_bytes", peak).toString();
  }
}
