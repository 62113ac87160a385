package dev.pipewright.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.reasons.Reasons;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Bytes;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AnswerJsonTest {
  private static final PipelinePlan PLAN =
      new PipelinePlan(
          PipelinePolicy.A,
          4,
          1,
          1,
          false,
          List.of(
              new StagePlan(0, 3, List.of(0), Recompute.NONE, 2),
              new StagePlan(4, 5, List.of(1), Recompute.STAGE_INPUT, 1)));

  @TempDir Path folder;

  private static Assessment assessment(double seconds) {
    StageMemory memory = new StageMemory(new States(20, 30, 100), 10, 2, 0.4, new Bytes(1000));
    StageCost first = new StageCost(1, 2, 0.5, 0.25, 0, 0, 0, memory);
    StageCost last = new StageCost(1, 2, 0, 0, 0, 0, 0, memory);
    return new Assessment("pipewright", seconds, List.of(first, last));
  }

  private static Planning planning(Optional<Candidate> best, List<Candidate> candidates) {
    return new Planning(
        "dapple",
        "pipewright",
        best,
        candidates,
        new Planning.LowerBound(12, "work / devices"),
        "stage 0 computes all the time",
        32,
        new Planning.Search(true, 42, "hybrid"));
  }

  private static AnswerJson.Context context(Optional<AnswerJson.Simulated> simulated) {
    MadeFor madeFor =
        new MadeFor(
            Optional.of("bert-48"),
            Optional.of("dapple-a"),
            OptionalLong.of(4),
            OptionalInt.empty(),
            OptionalInt.empty(),
            Optional.empty(),
            GivenMemory.NONE);
    return new AnswerJson.Context(
        madeFor, "derived: formulas, V100", 0.25, simulated, Reasons.NONE);
  }

  @Test
  void anAnswerHasTheKeysOfTheContract() {
    Candidate best = new Candidate("hybrid", PLAN, assessment(16), Optional.of(assessment(16)));
    Candidate rival = new Candidate("data parallel", PLAN, assessment(20), Optional.empty());
    AnswerJson.Simulated simulated =
        new AnswerJson.Simulated(
            16.5, 0.25, 0.125, List.of(120L, 110L), List.of(), Optional.empty());
    assertEquals(
        """
        {
          "planner": "dapple",
          "model": "bert-48",
          "cluster": "dapple-a",
          "global_batch": 4,
          "cost_model": "pipewright",
          "profile": "derived: formulas, V100",
          "objective": {"name": "step_s", "value": 16.0},
          "lower_bound": {"value": 12.0, "why": "work / devices"},
          "speedup": 2.0,
          "planning_s": 0.25,
          "plan": {
            "schedule": "1f1b",
            "micro_batches": 4,
            "micro_batch": 1,
            "replicas": 1,
            "overlap_allreduce": false,
            "stages": [
              {
                "layers": [0, 3],
                "devices": [0],
                "in_flight": 2,
                "recompute": "none",
                "micro_batch_per_rank": 1,
                "forward_s": 1.0,
                "backward_s": 2.0,
                "send_s": 0.5,
                "return_s": 0.25,
                "allreduce_s": 0.0,
                "exposed_allreduce_s": 0.0,
                "update_s": 0.0,
                "memory_bytes": 120,
                "memory": {
                  "parameters_bytes": 20,
                  "gradients_bytes": 30,
                  "optimizer_bytes": 50,
                  "activations_bytes": 20,
                  "workspace_bytes": 0,
                  "buffers_bytes": 0
                },
                "capacity_bytes": 1000
              },
              {
                "layers": [4, 5],
                "devices": [1],
                "in_flight": 1,
                "recompute": "stage-input",
                "micro_batch_per_rank": 1,
                "forward_s": 1.0,
                "backward_s": 2.0,
                "send_s": 0.0,
                "return_s": 0.0,
                "allreduce_s": 0.0,
                "exposed_allreduce_s": 0.0,
                "update_s": 0.0,
                "memory_bytes": 120,
                "memory": {
                  "parameters_bytes": 20,
                  "gradients_bytes": 30,
                  "optimizer_bytes": 50,
                  "activations_bytes": 20,
                  "workspace_bytes": 0,
                  "buffers_bytes": 0
                },
                "capacity_bytes": 1000
              }
            ]
          },
          "simulated": {
            "step_s": 16.5,
            "idle_share": 0.25,
            "stage_span_idle_share": 0.125,
            "peak_bytes": [120, 110],
            "memory": []
          },
          "why": {
            "binding": "stage 0 computes all the time",
            "runner_up": {
              "kind": "data parallel",
              "plan": "[0..3]×1 [4..5]×1",
              "seconds": 20.0,
              "peak_bytes": 120,
              "gap": 0.25
            }
          },
          "candidates": [
            {
              "kind": "hybrid",
              "summary": "[0..3]×1 [4..5]×1",
              "pipeline": 2,
              "stages": 2,
              "data": 1,
              "tensor": 1,
              "context": 1,
              "expert": 1,
              "schedule": "1f1b",
              "micro_batches": 4,
              "micro_batch": 1,
              "estimate_s": 16.0,
              "simulated_s": 16.0,
              "peak_bytes": 120
            },
            {
              "kind": "data parallel",
              "summary": "[0..3]×1 [4..5]×1",
              "pipeline": 2,
              "stages": 2,
              "data": 1,
              "tensor": 1,
              "context": 1,
              "expert": 1,
              "schedule": "1f1b",
              "micro_batches": 4,
              "micro_batch": 1,
              "estimate_s": 20.0,
              "peak_bytes": 120
            }
          ],
          "search": {"exhaustive": true, "labels": 42, "space": "hybrid"}
        }
        """,
        AnswerJson.text(
            planning(Optional.of(best), List.of(best, rival)), context(Optional.of(simulated))));
  }

  @Test
  void thePlanOfAnAnswerIsReadBack() {
    Candidate best = new Candidate("hybrid", PLAN, assessment(16), Optional.empty());
    String text =
        AnswerJson.text(planning(Optional.of(best), List.of(best)), context(Optional.empty()));
    PlanFile<PipelinePlan> file = PlanJson.read(Refusal.file(folder, "answer.json", text));
    assertEquals(PLAN, file.plan());
    assertEquals(Optional.of("dapple-a"), file.madeFor().cluster());
    assertEquals(OptionalLong.of(4), file.madeFor().globalBatch());
  }

  @Test
  void whereNothingFitsThePlanIsNull() {
    String text = AnswerJson.text(planning(Optional.empty(), List.of()), context(Optional.empty()));
    assertTrue(text.contains("\"plan\": null"), text);
    assertTrue(text.contains("\"objective\": {\"name\": \"step_s\", \"value\": null}"), text);
    assertTrue(text.contains("\"runner_up\": null"), text);
  }
}
