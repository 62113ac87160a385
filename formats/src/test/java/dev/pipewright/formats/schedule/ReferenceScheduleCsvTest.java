package dev.pipewright.formats.schedule;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.schedule.Schedule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that PyTorch wrote. */
class ReferenceScheduleCsvTest {
  @TempDir Path folder;

  private static Path reference(String name) {
    @Nullable String reference = System.getProperty("reference.dir");
    assumeTrue(reference != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(reference), "pytorch-csv", name);
    assumeTrue(Files.exists(file), "no reference file " + file);
    return file;
  }

  private static Schedule schedule(String name) {
    ScheduleFile file = ScheduleCsv.read(reference(name));
    assertEquals(List.of(), file.problems());
    assertEquals(name.contains("comms"), file.transfers());
    return file.schedule();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "DualPipeV_p4_m10_v2",
        "Interleaved1F1B_p4_m8_v2",
        "InterleavedZeroBubble_p4_m8_v2",
        "LoopedBFS_p4_m8_v2",
        "ZBVZeroBubble_p4_m8_v2"
      })
  void filesAreReadAndWrittenTheSame(String name) throws IOException {
    Path computeOnly = reference(name + "_compute_only.csv");
    Schedule schedule = schedule(name + "_compute_only.csv");
    String withoutEmptyCells =
        Files.readString(computeOnly)
            .replace("\r", "")
            .replaceAll(",+", ",")
            .replaceAll("(?m)^,", "");
    assertEquals(withoutEmptyCells.strip(), ScheduleCsv.text(schedule).strip());
    assertEquals(
        Files.readString(reference(name + "_compute_comms.csv")).replace("\r", "").strip(),
        ScheduleCsv.textWithTransfers(schedule).strip());
    Schedule again = schedule(name + "_compute_comms.csv");
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      assertArrayEquals(schedule.packed(rank), again.packed(rank));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"_compute_only.csv", "_compute_comms.csv"})
  void anyActionThatIsTakenAwayIsMissed(String kind) throws IOException {
    String text = Files.readString(reference("ZBVZeroBubble_p4_m8_v2" + kind)).replace("\r", "");
    String[] cells = text.split("(?<=[,\n])|(?=[,\n])");
    for (int i = 0; i < cells.length; i++) {
      boolean counts = cells[i].matches("\\d+(F|I|W|SEND_.|RECV_.)\\d+");
      if (counts) {
        String[] fewer = cells.clone();
        fewer[i] = "";
        Path file = Refusal.file(folder, "fewer.csv", String.join("", fewer));
        boolean found = !ScheduleCsv.read(file).problems().isEmpty();
        assertEquals(true, found, cells[i] + " is not missed");
      }
    }
  }
}
