package dev.pipewright.formats.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.api.Oracles;
import dev.pipewright.api.PlannedForTarget;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.imported.PlanImports;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Planning.Candidate;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A plan that is searched for a target is one that the target can say, and as fast as can be. */
class TargetPlansTest {
  private static final Pattern SETTING = Pattern.compile("cfg[.](?:\\w+[.])?(\\w+) = (.*)");
  private static final Pattern BLOCKS = Pattern.compile("num_layers == (\\d+)");

  @TempDir Path folder;

  @ParameterizedTest(name = "{1} on {2} for {0}")
  @CsvSource({
    "megatron, llama3-8b, h100:1x8, 32, 64e9",
    "torchtitan, llama3-8b, h100:1x8, 32, 64e9",
    "bridge, llama3-8b, h100:1x8, 32, 64e9",
    "deepspeed, llama3-8b, h100:1x8, 32, 64e9",
    "galvatron, llama3-8b, h100:1x8, 32, 64e9",
    "megatron, llama3-70b, h100:4x8, 32, 72e9",
    "torchtitan, llama3-70b, h100:4x8, 32, 72e9",
    "bridge, llama3-70b, h100:4x8, 32, 72e9",
    "deepspeed, llama3-70b, h100:4x8, 32, 72e9",
    "galvatron, llama3-70b, h100:4x8, 32, 72e9",
    "megatron, llama3-8b, a100-80g-8x800g:2x4, 64, 40e9",
    "torchtitan, llama3-8b, a100-80g-8x800g:2x4, 64, 40e9",
    "bridge, gpt:layers=22;hidden=2048;heads=16;sequence=2048;vocabulary=51200, dgx-v100:1x4, 16, 32e9",
    "megatron, gpt:layers=22;hidden=2048;heads=16;sequence=2048;vocabulary=51200, dgx-v100:1x4, 16, 32e9",
    "deepspeed, gpt:layers=22;hidden=2048;heads=16;sequence=2048;vocabulary=51200, dgx-v100:1x4, 16, 32e9",
    "galvatron, gpt:layers=22;hidden=2048;heads=16;sequence=2048;vocabulary=51200, dgx-v100:1x4, 16, 32e9",
  })
  void isExportedAndReadBackAsItIs(
      String target, String network, String cluster, int batch, String memory) {
    Problem problem = Problem.of(network.replace(';', ','), cluster, batch).withMemory(memory);
    PlannedForTarget found =
        Planners.planFor(problem, "auto", target, Optional.empty(), () -> false);
    PipelinePlan plan = found.planned().plan();
    PlanExport export = ExportCatalog.named("--to", target, SamplePlans.options(target));
    ExportSubject subject = ExportSubject.of(found.planned().costed(), plan, Optional.empty());
    assertEquals(List.of(), export.gaps(subject), plan.summary());
    ExportedFile written = export.write(subject).get(0);
    String text = target.equals("bridge") ? arguments(written.text()) : written.text();
    Path file = Refusal.file(folder, written.name(), text);
    assertTrue(PlanImports.isImport(file), text);
    assertEquals(plan, PlanImports.read(file, OptionalInt.of(plan.devices())).plan(), text);
    Candidate best = found.planned().planning().best().orElseThrow();
    assertEquals(Oracles.predict(problem, plan), best.estimate());
    assertTrue(best.estimate().fits());
    assertTrue(found.planned().planning().lowerBound().value() <= best.seconds());
    export
        .nearest(subject.with(found.free().plan()))
        .filter(near -> Oracles.predict(problem, near).fits())
        .ifPresent(near -> {
          double nearest =
              Planners.decider(found.planned().costed().costs()).assess(near).stepSeconds();
          assertTrue(best.seconds() <= nearest * (1 + 1e-9), best.seconds() + " > " + nearest);
        });
  }

  /** The settings of a recipe, which Megatron-Bridge names as Megatron-LM's arguments. */
  private static String arguments(String recipe) {
    StringBuilder arguments = new StringBuilder();
    Matcher blocks = BLOCKS.matcher(recipe);
    assertTrue(blocks.find());
    arguments.append("--num-layers ").append(blocks.group(1));
    Matcher setting = SETTING.matcher(recipe);
    while (setting.find()) {
      String name = setting.group(1);
      String value = setting.group(2).replace("\"", "'");
      boolean chunks = name.equals("virtual_pipeline_model_parallel_size");
      String flag = chunks ? "num-virtual-stages-per-pipeline-rank" : name.replace('_', '-');
      if (name.equals("mixed_precision")) {
        arguments.append(" --bf16");
      } else if (!value.equals("None") && !value.equals("False")) {
        arguments.append(" --").append(flag).append(value.equals("True") ? "" : " " + value);
      }
    }
    return arguments.toString();
  }

  /** Stages lack memory to different extents, and Megatron recomputes as much of all. */
  @Test
  void recomputesAsManyBlocksOfEveryStageForMegatron() {
    Problem problem =
        Problem.of("llama3-8b", "h100:1x4", 64).withMemory("45e9").withSchedule("1f1b");
    PlannedForTarget found =
        Planners.planFor(problem, "auto", "megatron", Optional.empty(), () -> false);
    assertTrue(found.isRestricted());
    assertTrue(found.cannotSay().toString().contains("recomput"), found.cannotSay().toString());
    PipelinePlan plan = found.planned().plan();
    ExportSubject subject = ExportSubject.of(found.planned().costed(), plan, Optional.empty());
    int most = plan.stages().stream().mapToInt(s -> s.recomputed().size()).max().orElseThrow();
    assertTrue(most > 0);
    for (int s = 0; s < plan.stages().size(); s++) {
      assertEquals(Math.min(most, subject.blocks(s)), plan.stages().get(s).recomputed().size());
    }
    assertTrue(found.cost() > -1e-9 && found.cost() < 0.2, "costs " + found.cost());
  }

  /** A network that no file of the target can say is planned as without it. */
  @ParameterizedTest
  @ValueSource(strings = {"megatron", "galvatron"})
  void otherNetworksAreFoundAndRefused(String target) {
    Problem problem = Problem.of("vgg-16", "dapple-a:1x4", 64);
    PlannedForTarget found =
        Planners.planFor(problem, "auto", target, Optional.empty(), () -> false);
    assertEquals(Planners.plan(problem).plan(), found.planned().plan());
    assertTrue(!found.isRestricted() && !found.cannotSay().isEmpty());
  }
}
