package dev.pipewright.formats.sweep;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.sweep.SweepFigures.SweepShape;
import dev.pipewright.formats.sweep.SweepResult.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SweepLogTest {
  @TempDir Path folder;

  private static SweepResult planned(int batch, double step) {
    return new SweepResult(
        new SweepKey("bert-48", "dapple-a", batch, "--recompute full"),
        Status.PLANNED,
        0.25,
        Optional.of(
            new SweepFigures(
                "auto",
                "step_s",
                step,
                OptionalDouble.of(step / 2),
                step,
                16,
                8,
                1e9,
                OptionalDouble.of(batch / step),
                OptionalDouble.empty(),
                OptionalDouble.of(0.4),
                new SweepShape("1f1b", 2, 1, 8, batch / 8))),
        "");
  }

  private static SweepResult failed(int batch) {
    return new SweepResult(
        new SweepKey("bert-48", "dapple-a", batch, ""),
        Status.FAILED,
        0,
        Optional.empty(),
        "--micro-batch: 3 does not divide \"8\", as asked; give 2");
  }

  @Test
  void whatIsAppendedIsReadBackEqual() {
    Path file = folder.resolve(SweepLog.NAME);
    List<SweepResult> results = List.of(planned(8, 0.1), failed(8), planned(16, 1.0 / 3));
    for (SweepResult result : results) {
      try (SweepLog log = SweepLog.open(file)) {
        log.append(result);
      }
    }
    assertEquals(results, new ArrayList<>(SweepLog.read(file).values()));
    assertEquals(0, SweepLog.read(folder.resolve("none.jsonl")).size());
  }

  @Test
  void aCutLastLineIsNoPartOfItAndIsDroppedBeforeTheNext() throws IOException {
    Path file = folder.resolve(SweepLog.NAME);
    try (SweepLog log = SweepLog.open(file)) {
      log.append(planned(8, 0.1));
      log.append(planned(16, 0.2));
    }
    String whole = Files.readString(file);
    String first = whole.substring(0, whole.indexOf('\n') + 1);
    for (int cut : List.of(first.length(), first.length() + 1, whole.length() - 1)) {
      Files.writeString(file, whole.substring(0, cut), StandardOpenOption.TRUNCATE_EXISTING);
      assertEquals(List.of(planned(8, 0.1)), List.copyOf(SweepLog.read(file).values()));
      try (SweepLog log = SweepLog.open(file)) {
        log.append(planned(16, 0.2));
      }
      assertEquals(whole, Files.readString(file));
    }
    Files.writeString(file, "{\"mod".repeat(20_000)); // longer than a block
    SweepLog.open(file).close();
    assertEquals("", Files.readString(file));
  }

  @Test
  void manyThreadsAppendWholeLines() {
    Path file = folder.resolve(SweepLog.NAME);
    try (SweepLog log = SweepLog.open(file)) {
      IntStream.rangeClosed(1, 64).parallel().forEach(i -> log.append(planned(8 * i, i)));
    }
    assertEquals(64, SweepLog.read(file).size());
  }

  @Test
  void contradictionsAndForeignLinesAreRefused() {
    Path file = folder.resolve(SweepLog.NAME);
    try (SweepLog log = SweepLog.open(file)) {
      log.append(planned(8, 0.1));
      log.append(planned(8, 0.2));
    }
    refused("results.jsonl:2: the point bert-48 on", file, SweepLog::read);
    refused(
        "results.jsonl:1: unknown key \"a\"",
        Refusal.file(folder, SweepLog.NAME, "{\"a\": 1}\n"),
        SweepLog::read);
    assertTrue(planned(8, 0.1).agrees(planned(8, 0.1)));
    assertFalse(planned(8, 0.1).agrees(planned(8, 0.3)));
  }

  @Test
  void theTableQuotesSentences() {
    SweepEntry model = new SweepEntry("bert", "bert-48", List.of(), 1);
    SweepEntry cluster = new SweepEntry("a", "dapple-a", List.of(), 1);
    SweepEntry batch = new SweepEntry("8", "8", List.of(), 1);
    SweepPoint point =
        new SweepPoint(1, model, cluster, batch, new SweepEntry("", "", List.of(), 1));
    SweepResult result = failed(8);
    String csv = SweepCsv.of(List.of(point), java.util.Map.of(result.key(), result));
    String[] lines = csv.split("\n", -1);
    assertEquals(3, lines.length);
    assertEquals(
        "1,bert,a,8,,failed,0.0,,,,,,,,,,,,,,,,,"
            + "\"--micro-batch: 3 does not divide \"\"8\"\", as asked; give 2\"",
        lines[1]);
    assertEquals(24, lines[0].split(",", -1).length);
  }

  private static void refused(String begins, Path file, Function<Path, ?> reader) {
    String sentence = Refusal.of(file, reader);
    assertTrue(sentence.startsWith(begins) && sentence.contains("; "), sentence);
  }
}
