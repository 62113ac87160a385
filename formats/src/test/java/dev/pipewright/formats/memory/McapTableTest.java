package dev.pipewright.formats.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.planner.memory.LayerPeaks;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class McapTableTest {
  @TempDir Path folder;

  private LayerPeaks csv(String text) {
    return McapTable.read(Refusal.file(folder, "peaks.csv", text));
  }

  private LayerPeaks json(String text) {
    return McapTable.read(Refusal.file(folder, "peaks.json", text));
  }

  private void refused(String name, String text, String expected) {
    Refusal.assertRefused(expected, Refusal.file(folder, name, text), McapTable::read);
  }

  @Test
  void columnsAreFoundByNameAndTheFirstLayerAddsNothing() {
    LayerPeaks peaks = csv("name,added,alone\r\nconv,,5e3\n\nfc,-7,4096\n");
    assertEquals(2, peaks.layers());
    assertEquals(5000, peaks.alone(0));
    assertEquals(4096, peaks.alone(1));
    assertEquals(-7, peaks.added(1));
    assertEquals(4993, peaks.bytes(0, 0, 2));
  }

  @Test
  void layersOfJson() {
    LayerPeaks peaks = json("{\"layers\": [{\"alone\": 5}, {\"alone\": 4, \"added\": 3}]}");
    assertEquals(8, peaks.bytes(0, 0, 2));
  }

  @Test
  void runsOfJsonGiveBothMetrics() {
    LayerPeaks peaks =
        json(
            """
            {"runs": [{"layers": [1, 1, 1], "peak_bytes": [5, 6, 7]},
                      {"layers": [2, 1], "peak_bytes": [8, 7]},
                      {"layers": [1, 2], "peak_bytes": [5, 10]}]}
            """);
    assertEquals(6, peaks.alone(1));
    assertEquals(3, peaks.added(1));
    assertEquals(4, peaks.added(2));
  }

  @Test
  void holesAreNamed() {
    refused(
        "peaks.csv",
        "alone,added\n1,\n2,\n",
        "peaks.csv:3: layer 1 has no peak added; measure it, or leave the table out to plan by"
            + " shapes");
    refused(
        "peaks.json",
        "{\"layers\": [{\"alone\": 5}, {\"alone\": 4}]}",
        "peaks.json:1: the key \"added\" is missing in layers[1]; add it");
    refused(
        "peaks.json",
        "{\"layers\": [{\"alone\": null}]}",
        "peaks.json:1: layers[0].alone is null; expected 0 or 1e-9 to 1e15 bytes");
    refused(
        "peaks.json",
        "{\n\"runs\": [{\"layers\": [1, 2], \"peak_bytes\": [5, 6]}]}",
        "peaks.json:2: layer 1 has no peak of its own: alone=NaN; run a partition that puts it"
            + " alone on a device");
  }

  @Test
  void whatIsNoTableIsRefused() {
    refused(
        "peaks.csv", "alone\n1\n", "peaks.csv:1: has no column added; add it among the headings");
    refused(
        "peaks.csv",
        "alone,added\n1,2,3\n",
        "peaks.csv:2: 3 values stand under 2 headings; expected one for each");
    refused(
        "peaks.csv",
        "alone,added\nx,2\n",
        "peaks.csv:2: alone=x is no number of bytes; write digits, like 1048576 or 1.2e9");
    refused(
        "peaks.csv",
        "alone,added\n-1,2\n",
        "peaks.csv:2: alone=-1.0 is no amount of memory; give bytes >= 0");
    refused(
        "peaks.csv",
        "alone,added\n",
        "peaks.csv:1: holds no layers; expected the headings alone and added, and a line for each"
            + " layer");
    refused(
        "peaks.json",
        "{\"runs\": [], \"layers\": []}",
        "peaks.json:1: holds neither or both of \"layers\" and \"runs\"; give one of them");
    refused(
        "peaks.json",
        "{\"runs\": [{\"layers\": [1, 1], \"peak_bytes\": [5]}]}",
        "peaks.json:1: one peak for each device: devices=2, peaks=1");
  }
}
