package dev.pipewright.server.page;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.server.study.Members;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlanDegreesTest {
  private static StagePlan stage(int first, int last, int devices, String parallelism) {
    return new StagePlan(
        first,
        last,
        IntStream.range(0, devices).boxed().toList(),
        Parallelism.parse(parallelism).orElseThrow(),
        Recompute.NONE,
        1,
        List.of());
  }

  /** Both forms in which answers have plans say the same of two stages. */
  @ParameterizedTest
  @CsvSource({
    "8, none:1, 8, none:1, 8, 1",
    "8, tensor:4, 8, tensor:4, 2, 4",
    "8, sequence:2, 4, none:1, 4, 1–2",
    "8, context:4, 8, context:4, 2, 4 context",
    "4, expert:4, 8, expert:4, 1–2, 4 context+expert",
    "4, expert:4x1, 8, expert:4x1, 1–2, 4 expert",
    "8, sequence:2x4, 16, sequence:2x4, 1–2, 8 context+sequence",
    "8, expert:4x2, 16, expert:4x2, 1–2, 8 sequence+expert"
  })
  void summariesAndStagesSayTheSame(
      int first, String ofFirst, int second, String ofSecond, String data, String tensor) {
    String summary =
        stage(0, 7, first, ofFirst).summary() + " " + stage(8, 20, second, ofSecond).summary();
    PlanDegrees expected = new PlanDegrees("2", data, tensor);
    for (String stages : List.of("", "\"stages\": 2, ")) { // older answers do not count them
      String candidate = "{%s\"summary\": \"%s\"}".formatted(stages, summary);
      assertEquals(expected, PlanDegrees.of(Members.of(candidate)));
    }
    assertEquals(
        expected,
        PlanDegrees.of(
            Members.of(
                """
                {"stages": [{"devices": %s, "parallelism": "%s"},
                            {"devices": %s, "parallelism": "%s"}]}
                """
                    .formatted(
                        IntStream.range(0, first).boxed().toList(),
                        ofFirst,
                        IntStream.range(0, second).boxed().toList(),
                        ofSecond))));
  }

  @Test
  void whatHasNeitherIsADash() {
    assertEquals(new PlanDegrees("–", "–", "–"), PlanDegrees.of(Members.of("{}")));
  }
}
