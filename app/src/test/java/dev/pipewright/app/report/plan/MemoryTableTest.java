package dev.pipewright.app.report.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.TerminalTable;
import dev.pipewright.planner.Planning.Candidate;
import org.junit.jupiter.api.Test;

class MemoryTableTest {
  private static String of(int stages, int microBatches) {
    Candidate best =
        Pipelines.picture("many", stages, microBatches).planning().best().orElseThrow();
    StringBuilder out = new StringBuilder();
    TerminalTable.append(out, MemoryTable.of(best.decisive()).orElseThrow(), 100, new Ink(false));
    return out.toString();
  }

  @Test
  void stagesThatDifferInActivationsShareARow() {
    assertEquals(
        """
          memory in
          GiB         parameters  gradients  optimizer   activations           all
          stage 0–63         0.8        0.8        1.5  32.0 … 0.5  35.0 … 3.5
        """
            .replaceAll(" +", " "),
        of(64, 64).replaceAll(" +", " "));
  }

  @Test
  void threeSuchStagesHaveARowEach() {
    assertEquals(5, of(3, 8).lines().count());
  }
}
