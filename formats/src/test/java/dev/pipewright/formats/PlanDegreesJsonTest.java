package dev.pipewright.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlanDegreesJsonTest {
  private static StagePlan stage(int layer, int firstDevice, int devices, String parallelism) {
    return new StagePlan(
        layer,
        layer,
        IntStream.range(firstDevice, firstDevice + devices).boxed().toList(),
        Parallelism.parse(parallelism).orElseThrow(),
        Recompute.NONE,
        1,
        List.of());
  }

  @ParameterizedTest
  @CsvSource({
    "8, none:1, 8, none:1, '{pipeline=2, stages=2, data=8, tensor=1, context=1, expert=1}'",
    "8, sequence:4, 8, tensor:4, '{pipeline=2, stages=2, data=2, tensor=4, context=1, expert=1}'",
    "8, context:4, 8, context:4, '{pipeline=2, stages=2, data=2, tensor=1, context=4, expert=1}'",
    "8, expert:4, 8, expert:4, '{pipeline=2, stages=2, data=2, tensor=1, context=4, expert=4}'",
    "8, sequence:2x4, 8, sequence:2x4, '{pipeline=2, stages=2, data=1, tensor=4, context=2, expert=1}'",
    "8, expert:4x1, 8, expert:4x1, '{pipeline=2, stages=2, data=2, tensor=1, context=1, expert=4}'",
    "8, filter:4, 8, filter:4, '{pipeline=2, stages=2, data=2, context=1, expert=1}'",
    "8, tensor:4, 4, none:1, '{pipeline=2, stages=2, context=1, expert=1}'"
  })
  void degreesInWhichStagesAgreeAreNumbers(
      int first, String ofFirst, int second, String ofSecond, String expected) {
    List<StagePlan> stages =
        List.of(stage(0, 0, first, ofFirst), stage(1, first, second, ofSecond));
    Map<String, Object> object = new LinkedHashMap<>();
    PlanDegreesJson.put(object, new PipelinePlan(PipelinePolicy.A, 4, 8, 1, false, stages));
    assertEquals(expected, object.toString());
  }
}
