package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.problem.StepOptions;
import dev.pipewright.planner.FlagValues;
import dev.pipewright.planner.PlannerFlag;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.planner.catalog.PlannerEntry;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** The command line takes the flags of single planners from the catalogue. */
class PlannerFlagsTest {
  @Test
  void helpListsTheFlagsOfEachPlannerWithItsName() {
    String help = Cli.run("plan", "--help").ends(0).out().replaceAll("\\s+", " ");
    assertFalse(PlannerCatalog.withFlags().isEmpty());
    for (PlannerEntry entry : PlannerCatalog.withFlags()) {
      for (PlannerFlag flag : entry.flags()) {
        String label = flag.label().map(value -> "=" + value).orElse("");
        String line = "%s%s For %s: %s".formatted(flag.name(), label, entry.name(), flag.words());
        assertTrue(help.contains(line), line + " in " + help);
      }
    }
  }

  @Test
  void otherPlannersRefuseThem() {
    for (PlannerEntry entry : PlannerCatalog.withFlags()) {
      for (PlannerFlag flag : entry.flags()) {
        String word = flag.name() + flag.label().map(label -> "=1").orElse("");
        Cli.run("plan", "bert-48", "--cluster", "dapple-a", "--global-batch", "64", word)
            .refusal(
                2,
                "%s: the planner auto does not support it; leave it out, or take --planner %s"
                    .formatted(flag.name(), entry.name()));
      }
    }
  }

  @Test
  void aPlannerOfStepsReadsThemFromItsRequest() {
    PlannerFlag width = PlannerFlag.of("--beam-width", "N", "candidates of each size.");
    Request request =
        StepOptions.of(64)
            .withFlags(new FlagValues(Map.of("--beam-width", "8")))
            .request("dapple", false)
            .withStages(OptionalInt.of(2));
    assertEquals("8", request.flags().text(width).orElseThrow());
    assertTrue(Request.of(64).flags().text(width).isEmpty());
  }
}
