package dev.pipewright.solver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.planner.Objective;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.solver.bayes.McapBayesian;
import java.util.List;
import org.junit.jupiter.api.Test;

class SolverPlannersTest {
  @Test
  void theCatalogueListsThemAmongThoseOfTheirObjective() {
    PlannerEntry entry = PlannerCatalog.find(McapBayesian.NAME).orElseThrow();
    assertEquals(Objective.PEAK_MEMORY, entry.objective());
    List<PlannerEntry> memory = PlannerCatalog.entries(Objective.PEAK_MEMORY);
    assertEquals(entry, memory.get(memory.size() - 1));
  }
}
