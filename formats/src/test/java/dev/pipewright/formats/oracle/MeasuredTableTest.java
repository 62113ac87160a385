package dev.pipewright.formats.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.predict.transformer.MeasuredStep;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MeasuredTableTest {
  private static final String RUN = "h100-80g-8x3200g,8,8,4096,32,4096,64";

  @TempDir Path folder;

  private MeasuredTable read(String headings, String... rows) throws IOException {
    Path file = folder.resolve("runs.csv");
    Files.writeString(
        file,
        "machine,devices,layers,hidden,heads,sequence,global_batch,"
            + headings
            + "\n"
            + String.join("\n", rows)
            + "\n");
    return MeasuredTable.of(TrainingTable.read(file), MachineSheets.read());
  }

  private String refusal(String headings, String... rows) {
    return String.valueOf(
        assertThrows(BadInputException.class, () -> read(headings, rows)).getMessage());
  }

  @Test
  void networksAndTheirProxiesOnAMachineAreGroups() throws IOException {
    MeasuredTable table =
        read(
            "model,iteration_s",
            RUN + ",llama-8b,1.5",
            RUN + ",llama-8b-proxy-2l,0.5",
            RUN.replace("3200", "800") + ",llama-8b,2.5",
            RUN + ",,1.25");
    assertEquals(
        List.of(
            "llama-8b | h100-80g-8x3200g",
            "llama-8b | h100-80g-8x3200g",
            "llama-8b | h100-80g-8x800g",
            "h4096 | h100-80g-8x3200g"),
        table.steps().stream().map(MeasuredStep::group).toList());
    assertEquals(1.25, table.steps().get(3).seconds());
  }

  @Test
  void whatASourceLeavesOpenCountsLessOrNotAtAll() throws IOException {
    MeasuredTable table =
        read(
            "id,unknown,iteration_s",
            RUN + ",a,,1",
            RUN + ",b,recompute,1",
            RUN + ",c,recompute;interleave,1");
    assertEquals(List.of("a", "b"), table.steps().stream().map(MeasuredStep::id).toList());
    assertEquals(List.of(1.0, 0.25), table.steps().stream().map(MeasuredStep::weight).toList());
    assertEquals(List.of("a", "b"), table.rows().stream().map(TrainingRow::id).toList());
  }

  @Test
  void tablesOfMeasuredRunsAreRecognisedByTheirHeadings() throws IOException {
    Path file = folder.resolve("file");
    for (String first : List.of("\n machine, layers,iteration_s", "\"iteration_s\",layers")) {
      assertTrue(TrainingTable.isMeasured(Files.writeString(file, first + "\n1,2,3\n")), first);
    }
    for (String first :
        List.of(
            "",
            "machine,layers",
            "devices,bytes,seconds",
            "\u001b[0m# nccl-tests",
            "iteration_s")) {
      assertTrue(!TrainingTable.isMeasured(Files.writeString(file, first + "\n1,2,3\n")), first);
    }
  }

  @Test
  void secondsAreNeeded() {
    assertTrue(
        refusal("iteration_s", RUN + ",")
            .endsWith(":2:8: iteration_s is empty; write the seconds of a step"));
    assertTrue(
        refusal("iteration_s", RUN + ",0").contains(":2:8: iteration_s must be finite and > 0"));
    assertTrue(refusal("iteration_s", RUN + ",x").contains(":2:8: iteration_s=x is no number"));
    String without = refusal("id", RUN + ",a");
    assertTrue(without.endsWith(":2: iteration_s is empty; write the seconds of a step"), without);
  }
}
