package dev.pipewright.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.pipedream.BandwidthLevel;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AsynchronousJsonTest {
  private static final String GOOD =
      """
      {"planner": "pipedream", "model": "m.txt", "levels": [2, 2], "bandwidths": [2e10, 1e9],
       "activation_transfer": true, "profile_batch": 4,
       "objective": {"name": "minibatch_s", "value": 0.25},
       "plan": {
         "schedule": "pipedream", "micro_batches": 2, "micro_batch": 4, "replicas": 1,
         "stages": [
           {"layers": [0, 2], "devices": [0, 1, 2], "in_flight": 2, "replicas_by_level": [3]},
           {"layers": [3, 5], "devices": [3], "minibatch_s": 0.1}
         ]}}
      """;

  @TempDir Path folder;

  private Path file(String text) {
    return Refusal.file(folder, "plan.json", text);
  }

  private PlanFile<AsynchronousPlan> read(String text) {
    PlanFile<?> read = PlanFiles.read(file(text));
    return read.of(assertInstanceOf(AsynchronousPlan.class, read.plan()));
  }

  @Test
  void anAnswerIsReadWithWhatItWasMadeFor() {
    PlanFile<AsynchronousPlan> found = read(GOOD);
    assertEquals(
        new AsynchronousPlan(
            Rule.PIPEDREAM,
            2,
            4,
            1,
            List.of(
                new StagePlan(0, 2, List.of(0, 1, 2), Recompute.NONE, 2),
                new StagePlan(3, 5, List.of(3), Recompute.NONE, 1))),
        found.plan());
    assertEquals(Optional.of("m.txt"), found.madeFor().model());
    assertEquals(4, found.madeFor().profileBatch().orElse(0));
    assertEquals(List.of(new BandwidthLevel(2, 2e10), new BandwidthLevel(2, 1e9)), found.levels());
    assertEquals(OptionalDouble.of(0.25), found.objective());
  }

  @Test
  void thePlanAloneIsEnough() {
    String inner =
        """
        {"schedule": "pipedream-2bw", "micro_batches": 3, "micro_batch": 4, "replicas": 2,
         "cluster": "dapple-a", "optimizer": "adam", "precision": "fp32",
         "stages": [{"layers": [0, 2], "devices": [0, 1], "recompute": "stage-input"}]}
        """;
    PlanFile<AsynchronousPlan> found = read(inner);
    assertEquals(24, found.plan().globalBatch());
    assertEquals(Recompute.STAGE_INPUT, found.plan().stages().get(0).recompute());
    assertEquals(Optional.of("dapple-a"), found.madeFor().cluster());
    assertTrue(found.madeFor().training().isPresent());
    assertEquals(OptionalDouble.empty(), found.objective());
  }

  @Test
  void plansOfTrainingStepsAreOthers() {
    String step =
        """
        {"schedule": "1f1b", "micro_batches": 2, "micro_batch": 4,
         "stages": [{"layers": [0, 2], "devices": [0]}]}
        """;
    assertInstanceOf(PipelinePlan.class, PlanFiles.read(file(step)).plan());
    Refusal.assertRefused(
        "plan.json:1: the file is a list; expected an object", file("[]"), PlanFiles::read);
    Refusal.assertRefused(
        "plan.json:1: the answer holds no plan because nothing fitted; give an answer with a plan",
        file("{\"plan\": null}"),
        PlanFiles::read);
    Refusal.assertRefused(
        "plan.json:5: the schedule pipedream never flushes, so that the plan has no training step;"
            + " give a plan for one of "
            + String.join(", ", PlanScheduleJson.names()),
        file(GOOD),
        PlanJson::read);
  }

  @ParameterizedTest(name = "{2}")
  @CsvSource(
      delimiter = '|',
      value = {
        "\"levels\": [2, 2], | '' | 1: levels and bandwidths belong together; give one of each, innermost first",
        "[2e10, 1e9] | [2e10] | 1: levels and bandwidths belong together; give one of each, innermost first",
        "\"in_flight\": 2 | \"in_flight\": 4 | 6: pipedream has its own number of micro-batches in flight: stage=0, in_flight=4; take 2",
        "\"micro_batches\": 2 | \"micro_batches\": 3 | 6: pipedream has so many micro-batches under way as its first stage holds: micro_batches=3; take 2",
        "[3, 5], \"devices\": [3] | [3, 5], \"devices\": [2] | 6: device 2 serves two stages",
        "[3, 5] | [4, 5] | 6: stages must follow each other without gap: expected first layer 3, found 4, so that no stage has layer 3",
        "[3, 5] | [3, 5, 6] | 8: plan.stages[1].layers holds 3 numbers; expected [first, last], last inclusive",
        "\"devices\": [3], \"minibatch_s\" | \"devices\": [3], \"minibatchs\" | 8: unknown key \"minibatchs\" in plan.stages[1]; did you mean \"minibatch_s\"?",
      })
  void whatIsWrongIsSaidWithItsLine(String from, String to, String expected) {
    assertTrue(GOOD.contains(from), from);
    Refusal.assertRefused("plan.json:" + expected, file(GOOD.replace(from, to)), PlanFiles::read);
  }

  @Test
  void noStagesAreNoPlan() {
    String none =
        "{\"schedule\": \"pipedream\", \"micro_batches\": 1, \"micro_batch\": 1, \"stages\": []}";
    Refusal.assertRefused("plan.json:1: a plan has stages: stages=0", file(none), PlanFiles::read);
  }
}
