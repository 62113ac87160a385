package dev.pipewright.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The JSON Schema of plans has the keys that readers know, no other. */
class PlanSchemaTest {
  private static Set<String> keys(String object) throws IOException {
    JsonNode schema =
        new JsonMapper()
            .readTree(Files.readString(Path.of("../docs/schemas/plan.schema.json")))
            .at(object + "/properties");
    return new TreeSet<>(schema.propertyNames());
  }

  private static Set<String> all(List<List<String>> lists) {
    return new TreeSet<>(PlanKeys.joined(lists));
  }

  @Test
  void theSchemaHasTheKeysOfAllReaders() throws IOException {
    assertEquals(
        all(
            List.of(
                PlanJson.ANSWER_KEYS,
                AsynchronousJson.ANSWER_KEYS,
                PeriodicReader.ANSWER_KEYS,
                PlacementReader.ANSWER_KEYS)),
        keys("/$defs/answer"));
    assertEquals(
        all(
            List.of(
                PlanJson.PLAN_KEYS,
                AsynchronousJson.PLAN_KEYS,
                PeriodicReader.PLAN_KEYS,
                PlacementReader.PLAN_KEYS)),
        keys("/$defs/plan"));
    assertEquals(
        all(
            List.of(
                PlanJson.STAGE_KEYS,
                AsynchronousJson.STAGE_KEYS,
                PeriodicReader.STAGE_KEYS,
                PlacementReader.STAGE_KEYS)),
        keys("/$defs/plan/properties/stages/items"));
  }
}
