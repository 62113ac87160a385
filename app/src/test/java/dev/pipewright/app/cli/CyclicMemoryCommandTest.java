package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class CyclicMemoryCommandTest {
  @TempDir Path folder;

  private static Cli cyclicMemory(Path file, String... more) {
    List<String> args = new ArrayList<>(List.of("cyclic-memory", file.toString()));
    args.addAll(List.of(more));
    return Cli.run(args.toArray(new String[0]));
  }

  /** So many stages alike, each 1 MB of activations, beside 7 MB that stay. */
  private Path equalStages(int stages) {
    StringBuilder text = new StringBuilder("bytes,time\n");
    for (int step = 0; step < 2 * stages; step++) {
      int held = step < stages ? step + 1 : 2 * stages - step;
      text.append(7_000_000 + held * 1_000_000).append(',').append(step * 0.01).append('\n');
    }
    return Cli.file(folder, "curve.csv", text + "7000000," + 2 * stages * 0.01 + "\n");
  }

  @Test
  void equalStagesTakeTheirClosedForm() {
    for (int stages : new int[] {1, 2, 4, 8, 32}) {
      JsonNode json =
          cyclicMemory(equalStages(stages), "--workers", "1," + stages, "--json").ends(0).json();
      assertEquals(stages * 0.02, json.at("/period_s").asDouble(), 1e-12);
      assertEquals(7e6, json.at("/baseline_bytes").asDouble());
      JsonNode one = json.at("/rows/0");
      assertEquals(1, one.get("workers").asInt());
      assertEquals(0, one.get("reduction").asDouble());
      JsonNode last = json.get("rows").get(json.get("rows").size() - 1);
      assertEquals(stages, last.get("workers").asInt());
      assertEquals(stages * 1e6, last.get("dp_max_bytes").asDouble());
      assertEquals((stages + 1) / 2.0 * 1e6, last.get("cyclic_max_bytes").asDouble(), 1e-6);
      assertEquals(1 - (stages + 1) / (2.0 * stages), last.get("reduction").asDouble(), 1e-12);
    }
  }

  @Test
  void theTableSaysTheSame() {
    Cli run = cyclicMemory(equalStages(8), "--workers", "8").ends(0);
    assertTrue(run.out().contains("curve.csv: 17 samples over 160 ms\n"), run.out());
    assertTrue(run.out().contains("without the 6.68 MiB of its smallest sample"), run.out());
    assertTrue(run.out().contains("        8  7.63 MiB  4.29 MiB  0.563     43.8 %\n"), run.out());
    assertTrue(run.out().contains("       8 cyclic  ▅▅▅▅"), run.out());
    assertEquals("", run.err());
  }

  @Test
  void aBaselineIsSubtractedInsteadOfTheSmallestSample() {
    JsonNode json =
        cyclicMemory(equalStages(4), "--workers", "4", "--baseline", "5MB", "--json")
            .ends(0)
            .json();
    assertEquals(5e6, json.at("/baseline_bytes").asDouble());
    assertEquals(6e6, json.at("/rows/0/dp_max_bytes").asDouble());
    assertEquals(4.5e6, json.at("/rows/0/cyclic_max_bytes").asDouble(), 1e-6);
    json = cyclicMemory(equalStages(4), "--baseline", "0", "--json").ends(0).json();
    assertEquals(11e6, json.at("/rows/0/dp_max_bytes").asDouble());
  }

  @Test
  void curvesAndPictureAreWrittenAndNothingElseIsOverwritten() {
    Path file = equalStages(4);
    Path csv = folder.resolve("out.csv");
    Path svg = folder.resolve("out.svg");
    String[] options = {"--workers", "4,2", "--csv", csv.toString(), "--svg", svg.toString()};
    cyclicMemory(file, options).ends(0);
    assertTrue(Cli.text(csv).startsWith("time,dp,cyclic_2,cyclic_4\n0.0,1000000.0,"));
    assertTrue(Cli.text(svg).contains("<title>Memory of cyclic workers: "));
    assertTrue(Cli.text(svg).contains("4 cyclic: 2.38 MiB, −37.5 %"));
    cyclicMemory(file, options).ends(0); // its own
    cyclicMemory(file, "--csv", file.toString()).refusal(2, "no such file of Pipewright's");
    cyclicMemory(file, "--svg", file.toString()).refusal(2, "no such file of Pipewright's");
    cyclicMemory(file, "--svg", folder.toString()).refusal(2, "is a folder");
    String lost = folder.resolve("no").resolve("x").toString();
    cyclicMemory(file, "--csv", lost).refusal(2, "in no folder that exists");
    String image = folder.resolve("curve.png").toString();
    cyclicMemory(file, "--svg", image).refusal(2, "--svg: ", " ends in .png", "curve.svg");
    String same = folder.resolve("same").toString();
    cyclicMemory(file, "--csv", same, "--svg", same).refusal(2, "name two");
    assertFalse(Files.exists(folder.resolve("same")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "--workers 0                | --workers: '0' is no count",
        "--workers 4,x              | --workers: 'x' is no count",
        "--workers 4,               | --workers: '' is no count",
        "--workers -1               | --workers: '-1' is no count",
        "--workers 2.5              | --workers: '2.5' is no count",
        "--workers 5000             | give at most 4096",
        "--workers 99999999999      | 99999999999 is too many; give at most",
        "--workers 1,2,3,4,5,6,7 --svg x.svg | give at most 6, or no --svg",
        "--baseline x               | --baseline: 'x' is no amount of memory",
        "--baseline -5              | is no amount of memory",
        "--baseline NaN             | is no amount of memory",
        "--baseline 8MB             | --baseline: 8MB is above the smallest sample, 7000000 in",
        "--baseline 8MB             | curve.csv:10; give at most that",
      })
  void wrongOptionsAreRefusedInASentence(String options, String part) {
    cyclicMemory(equalStages(4), options.split(" ", -1)).refusal(2, part);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "``                         | bad.csv:1: the file is empty",
        "time,bytes                 | holds no samples",
        "time,bytes;0,1             | holds one sample",
        "time,bytes;0,1;0,2         | bad.csv:3: time=0.0 is not after 0.0",
        "time,bytes;1,1;0,2         | bad.csv:3: time=0.0 is not after 1.0",
        "time,bytes;0,1;1,-2        | bad.csv:3: bytes=-2.0 is no amount of memory",
        "time,bytes;0,1;NaN,2       | bad.csv:3: time=NaN is no time",
        "time,bytes;0,1;1,NaN       | bad.csv:3: bytes=NaN is no amount",
        "time,bytes;0,1;1,many      | bad.csv:3: bytes=many is no number",
        "t,bytes;0,1;1,2            | bad.csv:1: has no column of times",
        "time,bytes;0,5;1,5         | bad.csv:2: never holds more than the 5 B",
        "time,bytes;0,0;1,0         | bad.csv:2: never holds more than the 0 B",
      })
  void curvesThatAreNoneAreRefusedInASentence(String rows, String part) {
    Path file = Cli.file(folder, "bad.csv", rows.replace(';', '\n') + "\n");
    cyclicMemory(file).refusal(2, part);
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void aBrokenFileNeverBreaksTheProgram(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    StringBuilder text = new StringBuilder(Cli.text(equalStages(3)));
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      int at = random.nextInt(text.length());
      text.setCharAt(at, "0123456789-.eE,\n \0x".charAt(random.nextInt(19)));
    }
    Path svg = folder.resolve("broken.svg");
    Path file = Cli.file(folder, "broken.csv", text.toString());
    Cli run = cyclicMemory(file, "--workers", "1,3,7", "--svg", svg.toString());
    if (run.status() == 0) {
      assertFalse(Cli.text(svg).contains("NaN") || Cli.text(svg).contains("Infinity"));
      assertFalse(run.out().contains("NaN"), run.out());
    } else {
      run.refusal(2);
    }
  }
}
