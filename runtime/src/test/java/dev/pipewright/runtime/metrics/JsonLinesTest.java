package dev.pipewright.runtime.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class JsonLinesTest {
  @TempDir Path folder;

  @Test
  void everyStepIsALineAndALaterRunWritesBehindIt() throws IOException {
    Path file = folder.resolve("metrics.jsonl");
    Map<String, Double> values = new LinkedHashMap<>();
    values.put(StepMetrics.LOSS, 0.1 + 0.2);
    values.put(StepMetrics.IDLE_SHARE, Double.POSITIVE_INFINITY);
    try (JsonLines lines = new JsonLines(file)) {
      lines.record(new StepMetrics(1, 64, 1.7e9 + 0.25, values));
      assertEquals(1, Files.readAllLines(file).size(), "a line is whole once it is recorded");
    }
    try (JsonLines lines = new JsonLines(file)) {
      lines.record(new StepMetrics(2, 128, 1.7e9, Map.of()));
    }
    List<String> written = Files.readAllLines(file);
    assertEquals(2, written.size());
    JsonNode first = new JsonMapper().readTree(written.get(0));
    assertEquals(1, first.get("step").asInt());
    assertEquals(64, first.get("samples").asInt());
    assertEquals(1_700_000_000.25, first.get("unix_s").asDouble());
    assertEquals(0.1 + 0.2, first.get("loss").asDouble());
    assertTrue(first.get("idle_share").isNull());
    assertEquals(2, new JsonMapper().readTree(written.get(1)).get("step").asInt());
  }

  @Test
  void aFileThatCannotBeWrittenIsNamed() {
    Path file = folder.resolve("no/such/folder/metrics.jsonl");
    assertEquals(
        file + ": cannot be written",
        assertThrows(UncheckedIOException.class, () -> new JsonLines(file).close()).getMessage());
  }
}
