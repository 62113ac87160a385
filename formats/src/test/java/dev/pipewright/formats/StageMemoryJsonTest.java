package dev.pipewright.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.units.Bytes;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class StageMemoryJsonTest {
  private static Map<String, Object> object(StageMemory memory) {
    Map<String, Object> object = new LinkedHashMap<>();
    StageMemoryJson.put(object, memory.device());
    return object;
  }

  private static long sum(Object categories) {
    return ((Map<?, ?>) categories).values().stream().mapToLong(bytes -> (Long) bytes).sum();
  }

  @Test
  void everyByteOfTheStageIsForSomething() {
    StageMemory memory = new StageMemory(new States(200, 400, 1800), 75, 4, 33, new Bytes(3000));
    assertEquals(
        "{memory_bytes=2133, memory={parameters_bytes=200, gradients_bytes=400,"
            + " optimizer_bytes=1200, activations_bytes=300, workspace_bytes=33, buffers_bytes=0},"
            + " capacity_bytes=3000}",
        object(memory).toString());
  }

  @RepeatedTest(100)
  void categoriesAddUpToTheMemoryAlsoWhereTheyAreNoWholeBytes(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    double parameters = random.nextDouble(1e10);
    double gradients = random.nextDouble(1e10);
    StageMemory memory =
        new StageMemory(
            new States(parameters, gradients, parameters + gradients + random.nextDouble(1e10)),
            random.nextDouble(1e9),
            random.nextInt(1, 20),
            random.nextDouble(1e9),
            new Bytes(1));
    Map<String, Object> object = object(memory);
    assertEquals(
        object.get("memory_bytes"), sum(java.util.Objects.requireNonNull(object.get("memory"))));
  }

  @Test
  void whatWasMeasuredAsAWholeIsNotSplit() {
    StageMemory memory = new StageMemory(States.measured(1800), 0, 1, 0, new Bytes(3000));
    assertFalse(object(memory).containsKey("memory"));
    assertEquals(1800L, object(memory).get("memory_bytes"));
  }
}
