package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class ExportCommandTest {
  private static final String GPT = "gpt:layers=6,hidden=512,heads=8,sequence=256,vocabulary=1024";

  @TempDir Path folder;

  /** Two stages of eight layers on four devices each; the first is recomputed or not. */
  private Path plan(String recomputation) {
    return Cli.file(
        folder,
        "plan.json",
        """
        {"model": "%s", "cluster": "dapple-a:1x8", "optimizer": "adam", "precision": "fp32",
         "plan": {"schedule": "1f1b", "micro_batches": 4, "micro_batch": 8,
           "overlap_allreduce": false,
           "stages": [
             {"layers": [0, 3], "devices": [0, 1, 2, 3], "parallelism": "tensor:2"%s},
             {"layers": [4, 7], "devices": [4, 5, 6, 7], "parallelism": "tensor:2"}]}}
        """
            .formatted(GPT, recomputation));
  }

  private String out(String name) {
    return folder.resolve(name).toString();
  }

  @Test
  void argumentsAreThePlanForEvaluateCheckAndSimulate() {
    String plan = plan("").toString();
    Cli.run("export", plan, "--to", "megatron", "--out", out("launch")).ends(0);
    String arguments = folder.resolve("launch/megatron-args.sh").toString();
    String[] on = {"--cluster", "dapple-a:1x8"};
    double planned = step(Cli.run("simulate", plan, "--json").ends(0));
    Cli simulated = Cli.run("simulate", arguments, on[0], on[1], "--model", GPT, "--json").ends(0);
    assertEquals(planned, step(simulated), planned * 1e-12);
    Cli scored =
        Cli.plan(GPT, on[1], "--global-batch", "32", "--evaluate", arguments, "--json").ends(0);
    assertEquals(
        scored.json().get("plan").get("stages").get(1).get("layers"),
        simulated.json().get("plan").get("stages").get(1).get("layers"));
    Cli.run("check", arguments, on[0], on[1], "--model", GPT).ends(0);
    Cli.run("check", arguments)
        .refusal(2, "megatron-args.sh", "do not say how many devices", "add --cluster");
  }

  /** Network, batch and precision are those of the file, as for {@code simulate}. */
  @Test
  void argumentsAreScoredAsTheyAreWritten() {
    Cli.run("export", plan("").toString(), "--to", "megatron", "--out", out("launch")).ends(0);
    String arguments = folder.resolve("launch/megatron-args.sh").toString();
    String[] on = {"--cluster", "dapple-a:1x8", "--json"};
    Cli simulated = Cli.run("simulate", arguments, on[0], on[1], on[2]).ends(0);
    Cli scored = Cli.run("plan", "--evaluate", arguments, on[0], on[1], on[2]).ends(0);
    assertEquals(step(simulated), step(scored), step(simulated) * 1e-12);
    assertEquals(32, scored.json().get("global_batch").asInt());
    assertEquals("fp32", scored.json().get("precision").asString());
    Cli.run("plan", "--evaluate", arguments).refusal(2, "no cluster given; add --cluster");
    Cli.run("plan", "--evaluate", Cli.file(folder, "none.json", "{}").toString(), on[0], on[1])
        .ends(2);
  }

  private static double step(Cli answer) {
    return answer.json().get("simulated").get("step_s").asDouble();
  }

  @Test
  void whatATargetCannotSayIsRefusedWithThePriceOfTheNearest() {
    String plan = plan(", \"recompute\": \"stage-input\"").toString();
    Cli refused = Cli.run("export", plan, "--to", "megatron");
    String sentence =
        refused.refusal(
            1,
            "Megatron-LM cannot say recomputation of all of stage 0 and not of all stages",
            "the nearest plan that it can say is that of the same stages under 1f1b",
            "whose step takes",
            "--nearest exports it");
    Cli nearest = Cli.run("export", plan, "--to", "megatron", "--nearest").ends(0);
    assertTrue(nearest.out().contains("  --recompute-granularity full\n"), nearest.out());
    assertTrue(nearest.err().contains(sentence.substring(0, sentence.indexOf("; --nearest"))));
    JsonNode object = Cli.run("export", plan, "--to", "megatron", "--json").ends(1).json();
    assertEquals(1, object.get("cannot_say").size());
    assertEquals(0, object.get("files").size());
    JsonNode given =
        Cli.run("export", plan, "--to", "megatron", "--json", "--nearest").ends(0).json();
    assertEquals("megatron-args.sh", given.get("files").get(0).get("name").asString());
  }

  /** Priced as if the user had asked for the nearest plan's score. */
  @Test
  void theCostOfTheNearestPlanIsThatOfEvaluate() {
    String plan = plan(", \"recompute\": \"stage-input\"").toString();
    JsonNode near =
        Cli.run("export", plan, "--to", "megatron", "--json", "--nearest").json().get("plan");
    Path file = Cli.file(folder, "near.json", near.toString());
    String[] flags = {"--global-batch", "32", "--evaluate", file.toString(), "--precision", "fp32"};
    Cli scored = Cli.plan(GPT, "dapple-a:1x8", flags).ends(0);
    String refusal = Cli.run("export", plan, "--to", "megatron").ends(1).err();
    String seconds = refusal.replaceFirst("(?s).*whose step takes (\\S+ \\S+) .*", "$1");
    assertTrue(scored.out().contains(seconds), seconds + " not in " + scored.out());
  }

  @ParameterizedTest
  @CsvSource({
    "bridge, bridge_plan.py",
    "torch, train_pipeline.py schedule.csv",
    "deepspeed, ds_config.json train_deepspeed.py",
    "galvatron, galvatron_config.json",
    "torchtitan, torchtitan_plan.py",
    "sbatch, train.sbatch",
    "trainjob, trainjob.yaml",
    "jobset, jobset.yaml"
  })
  void everyTargetWritesItsFiles(String target, String files) {
    String[] command = {
      "export", plan("").toString(), "--to", target, "--nearest", "--out", out(target)
    };
    Cli.run(command).ends(0);
    for (String name : files.split(" ", -1)) {
      assertTrue(Files.exists(folder.resolve(target).resolve(name)), name);
    }
    Cli printed = Cli.run("export", plan("").toString(), "--to", target, "--nearest");
    if (files.contains(" ")) {
      printed.ends(2);
      assertTrue(printed.err().contains("; add --out DIR"), printed.err());
    } else {
      assertEquals(Cli.text(folder.resolve(target).resolve(files)), printed.ends(0).out());
    }
  }

  @Test
  void planExportsWhatItFinds() {
    String[] flags = {
      "--global-batch", "32", "--export", "megatron", "--nearest", "--planner", "data"
    };
    Cli printed = Cli.plan(GPT, "dapple-a:1x8", flags).ends(0);
    assertTrue(printed.out().contains("\nPLAN_ARGS=(\n"), printed.out());
    Cli written =
        Cli.plan(GPT, "dapple-a:1x8", Cli.with(Cli.with(flags, "--out"), out("all"))).ends(0);
    assertFalse(written.out().contains("PLAN_ARGS"), written.out());
    assertTrue(Files.exists(folder.resolve("all/megatron-args.sh")));
    assertTrue(Files.exists(folder.resolve("all/plan.json")));
    JsonNode object = Cli.plan(GPT, "dapple-a:1x8", Cli.with(flags, "--json")).ends(0).json();
    assertEquals("megatron", object.get("export").get("target").asString());
  }

  /** Megatron recomputes as many blocks of every stage; the search keeps to such plans. */
  @Test
  void planKeepsToWhatTheTargetCanSay() {
    String[] flags = {
      "--global-batch", "64", "--memory", "45e9", "--schedule", "1f1b", "--export", "megatron"
    };
    JsonNode answer = Cli.plan("llama3-8b", "h100:1x4", Cli.with(flags, "--json")).ends(0).json();
    JsonNode exported = answer.get("export");
    assertEquals(0, exported.get("cannot_say").size());
    assertEquals(stages(answer.get("plan")), stages(exported.get("plan")));
    JsonNode instead = exported.get("instead_of");
    double step = answer.get("simulated").get("step_s").asDouble();
    double free = instead.get("step_s").asDouble();
    assertEquals(step / free - 1, instead.get("cost").asDouble(), 1e-9);
    assertTrue(instead.get("cost").asDouble() > 0);
    JsonNode usual =
        Cli.plan("llama3-8b", "h100:1x4", Cli.with(Arrays.copyOf(flags, 6), "--json"))
            .ends(0)
            .json();
    assertEquals(stages(usual.get("plan")), stages(instead.get("plan")));
    assertFalse(stages(usual.get("plan")).equals(stages(answer.get("plan"))));
    assertEquals(usual.get("simulated").get("step_s").asDouble(), free, 1e-12);
    Cli printed = Cli.plan("llama3-8b", "h100:1x4", flags).ends(0);
    assertTrue(printed.out().contains("--recompute-method block"), printed.out());
    assertTrue(
        printed.err().contains("Megatron-LM cannot say the plan that is found without --export"),
        printed.err());
  }

  /** Layers, devices and recomputed layers. */
  private static List<String> stages(JsonNode plan) {
    List<String> stages = new ArrayList<>();
    for (JsonNode stage : plan.get("stages")) {
      stages.add(stage.get("layers") + " " + stage.get("devices") + stage.path("recomputed"));
    }
    return stages;
  }

  @Test
  void wrongFlagsAreRefused() {
    String plan = plan("").toString();
    Cli.run("export", plan).refusal(2, "--to is missing; take one of megatron, bridge");
    Cli.run("export", plan, "--to", "megatro").refusal(2, "--to: unknown 'megatro'", "megatron");
    Cli.run("export", plan, "--to", "torch", "--around", "deepspeed")
        .refusal(2, "--around: says nothing of torch", "sbatch or trainjob or jobset");
    Cli.run("export", plan, "--to", "sbatch", "--around", "jobset")
        .refusal(2, "--around: unknown 'jobset'");
    Cli.plan(GPT, "dapple-a:1x8", "--global-batch", "32", "--nearest")
        .refusal(2, "are for exports; add --export TARGET");
  }
}
