package dev.pipewright.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.planner.madpipe.LayerChain;
import dev.pipewright.planner.madpipe.PeriodicPlanner;
import dev.pipewright.planner.madpipe.PeriodicPlanning;
import dev.pipewright.planner.madpipe.PeriodicProblem;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.units.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

class PeriodicJsonTest {
  private static final MadeFor MADE_FOR =
      new MadeFor(
          Optional.of("three"),
          Optional.of("two"),
          OptionalLong.of(8),
          OptionalInt.empty(),
          OptionalInt.empty(),
          Optional.empty(),
          GivenMemory.NONE);

  private static JsonNode json(int devices, double bytes) {
    LayerChain chain =
        LayerChain.of(
            List.of(
                new StageLoad(1, 1, 1, 0), new StageLoad(2, 2, 2, 0), new StageLoad(1, 1, 1, 0)));
    var problem = new PeriodicProblem(chain, devices, bytes);
    PeriodicPlanning planning = PeriodicPlanner.plan(problem, () -> false);
    return new ObjectMapper().readTree(text(planning));
  }

  private static String text(PeriodicPlanning planning) {
    List<StageMemory> memory = new ArrayList<>();
    planning
        .best()
        .ifPresent(plan -> {
          for (int stage = 0; stage < plan.held().length; stage++) {
            StageLoad load = plan.pattern().stages().get(2 * stage);
            States states = States.measured(load.stateBytes());
            Bytes capacity = Bytes.of(planning.problem().capacityBytes());
            memory.add(
                new StageMemory(states, load.activationBytes(), plan.held()[stage], 0, capacity));
          }
        });
    return PeriodicJson.text(planning, MADE_FOR, "made up", memory, 0.25);
  }

  @Test
  void aDeviceMayHaveSeveralStages() { // lemma 2
    JsonNode answer = json(2, 2);
    assertEquals("minibatch_s", answer.at("/objective/name").asString());
    assertEquals(4, answer.at("/objective/value").asDouble());
    assertEquals(4, answer.at("/lower_bound/value").asDouble());
    assertEquals("work / devices", answer.at("/lower_bound/why").asString());
    assertEquals(2, answer.at("/speedup").asDouble());
    assertEquals(
        "[[0,0],[1,1],[2,2]]",
        answer
            .at("/plan/stages")
            .valueStream()
            .map(stage -> stage.get("layers").toString())
            .toList()
            .toString()
            .replace(" ", ""));
    assertEquals(
        "[[0],[1],[0]]",
        answer
            .at("/plan/stages")
            .valueStream()
            .map(stage -> stage.get("devices").toString())
            .toList()
            .toString()
            .replace(" ", ""));
    assertEquals("[2,2]", answer.at("/plan/device_bytes").toString());
    assertEquals(10, answer.at("/plan/pattern").size()); // three stages and two transfers
    assertEquals(
        "B",
        answer
            .at("/plan/pattern")
            .valueStream()
            .filter(op -> op.get(1).asInt() == 0 && op.get(3).asInt() == 0)
            .map(op -> op.get(0).asString())
            .filter(letter -> letter.equals("B"))
            .findFirst()
            .orElse(""));
    assertTrue(answer.at("/why/runner_up").isNull()); // nothing contiguous fits
  }

  @Test
  void aContiguousPlanNamesPlainOneForwardOneBackwardAsRunnerUp() {
    JsonNode answer = json(3, 9);
    assertTrue(answer.at("/plan/contiguous").asBoolean());
    assertEquals("1f1b", answer.at("/why/runner_up/kind").asString());
    assertEquals(0, answer.at("/why/runner_up/gap").asDouble());
    assertEquals(
        "[3,2,1]",
        answer
            .at("/plan/stages")
            .valueStream()
            .map(stage -> stage.get("in_flight").toString())
            .toList()
            .toString()
            .replace(" ", ""));
  }

  @Test
  void stagesSayWhichOfTheirLayersRunAgain() {
    LayerChain chain =
        LayerChain.of(
            List.of(
                new StageLoad(2, 1, 0, 4), new StageLoad(1, 1, 0, 4), new StageLoad(1, 1, 0, 4)));
    var problem = new PeriodicProblem(chain, 1, 12);
    assertEquals("[none]", recompute(problem).toString());
    PeriodicProblem selective = problem.recomputing(Recomputation.SELECTIVE);
    assertEquals("[none]", recompute(selective).toString());
    assertEquals("[selective [[1,1]]]", recompute(selective.within(8)).toString());
    PeriodicProblem always = problem.recomputing(Recomputation.ALWAYS);
    assertEquals("[stage-input]", recompute(always).toString());
  }

  private static List<String> recompute(PeriodicProblem problem) {
    PeriodicPlanning planning = PeriodicPlanner.plan(problem, () -> false);
    JsonNode answer = new ObjectMapper().readTree(text(planning));
    return answer
        .at("/plan/stages")
        .valueStream()
        .map(stage ->
            stage.get("recompute").asString()
                + (stage.has("recomputed") ? " " + stage.get("recomputed") : ""))
        .toList();
  }

  @Test
  void nothingFitsIsANullPlanWithTheMemoryThatWouldDo() {
    JsonNode answer = json(2, 1);
    assertTrue(answer.at("/plan").isNull());
    assertTrue(answer.at("/objective/value").isNull());
    assertEquals(
        "the devices have 1 B each; 3.00 B on each of the 2 would do",
        answer.at("/why/binding").asString());
  }
}
