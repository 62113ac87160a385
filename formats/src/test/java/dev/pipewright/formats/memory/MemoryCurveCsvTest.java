package dev.pipewright.formats.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.sim.CyclicMemory;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class MemoryCurveCsvTest {
  private static final String GOOD = "time,bytes\n0,100\n0.5,300\n1.5,200\n2,100\n";

  @TempDir Path folder;

  private Path file(String text) {
    return Refusal.file(folder, "curve.csv", text);
  }

  private void assertRefused(String expected, String text) {
    Refusal.assertRefused("curve.csv" + expected, file(text), MemoryCurveCsv::read);
  }

  @ParameterizedTest
  @CsvSource({
    "time,bytes",
    "time_s,memory",
    "seconds,memory_bytes",
    "Time,Bytes",
  })
  void columnsAreFoundByName(String time, String bytes) {
    String text =
        "\uFEFF" + bytes + " , remark," + time + "\r\n\r\n7,a,-1\r\n 5,b,0.5\r\n9,c,2\r\n";
    MemoryCurve curve = MemoryCurveCsv.read(file(text));
    assertArrayEquals(new double[] {-1, 0.5, 2}, curve.seconds());
    assertArrayEquals(new double[] {7, 5, 9}, curve.bytes());
    assertEquals(5, curve.least());
    assertEquals(4, curve.leastLine());
  }

  @Test
  void aboveTheBaselineIsWhatIsLeft() {
    CyclicMemory rest = MemoryCurveCsv.read(file(GOOD)).above(100);
    assertEquals(2, rest.period());
    assertEquals(200, rest.most());
    assertEquals(0, rest.at(0));
    assertEquals(100, rest.at(1.75));
  }

  @Test
  void mistakesAreNamed() {
    assertRefused(
        ":1: the file is empty; expected the headings time and bytes, and samples", " \n\n");
    assertRefused(
        ":1: has no column of times; expected one of time, time_s, seconds among the headings",
        GOOD.replace("time", "time_ms"));
    assertRefused(
        ":1: has no column of memory; expected one of bytes, memory, memory_bytes among the"
            + " headings",
        GOOD.replace("bytes", "MiB"));
    assertRefused(
        ":1: has 2 columns of memory; expected one of bytes, memory, memory_bytes among the"
            + " headings",
        GOOD.replace("bytes", "bytes,memory"));
    assertRefused(
        ":1: has no column of times; expected one of time, time_s, seconds among the headings",
        GOOD.substring(GOOD.indexOf('\n') + 1));
    assertRefused(
        ":3: 3 values stand under 2 headings; expected one for each", GOOD.replace("300", "300,1"));
    assertRefused(
        ":3: bytes=3OO is no number; write digits, like 1048576 or 4.4e-5",
        GOOD.replace("300", "3OO"));
    assertRefused(
        ":3: bytes= is no number; write digits, like 1048576 or 4.4e-5", GOOD.replace("300", ""));
    assertRefused(
        ":3: bytes=-300.0 is no amount of memory; give bytes, a number from 0 to 9.2e18",
        GOOD.replace("300", "-300"));
    assertRefused(
        ":3: bytes=NaN is no amount of memory; give bytes, a number from 0 to 9.2e18",
        GOOD.replace("300", "NaN"));
    assertRefused(
        ":3: bytes=1.0E300 is no amount of memory; give bytes, a number from 0 to 9.2e18",
        GOOD.replace("300", "1e300"));
    assertRefused(
        ":4: time=NaN is no time; give seconds, a finite number", GOOD.replace("1.5", "NaN"));
    assertRefused(
        ":4: time=0.5 is not after 0.5 of the sample before; sort by time and keep one sample of"
            + " each",
        GOOD.replace("1.5", "0.5"));
    assertRefused(
        ":4: time=0.25 is not after 0.5 of the sample before; sort by time and keep one sample of"
            + " each",
        GOOD.replace("1.5", "0.25"));
    assertRefused(
        ":1: holds one sample; expected at least two, the last where the step ends",
        "time,bytes\n0,1\n");
    assertRefused(
        ":1: holds no samples; expected at least two, the last where the step ends",
        "time,bytes\n");
    assertRefused(
        ":1: spans 2.0E9 seconds, which no training step takes; give times in seconds, 1e-9 to 1e9"
            + " of them",
        GOOD.replace("\n2,", "\n2e9,"));
    assertRefused(
        ":1: is not a recorded curve; the file holds bytes that are not text", "\u0000\u0001");
  }

  /** Two stages alike: 1, 2, 2, 1 activations; two workers hold 3 at all times. */
  @Test
  void aRowHoldsUntilTheNextAndTheLastEndsThePeriod() {
    CyclicMemory worker =
        new CyclicMemory(new double[] {0, 1, 2, 3, 4}, new double[] {1, 2, 2, 1, 1});
    assertEquals(
        """
        time,dp,cyclic_2,cyclic_1
        0.0,1.0,1.5,1.0
        1.0,2.0,1.5,2.0
        2.0,2.0,1.5,2.0
        3.0,1.0,1.5,1.0
        4.0,1.0,1.5,1.0
        """,
        MemoryCurveCsv.text(worker, List.of(2, 1)));
  }

  @RepeatedTest(value = 50, name = "seed {currentRepetition}")
  void whatIsWrittenHasTheSameMaxima(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int samples = seed.getCurrentRepetition() % 5 == 0 ? 3_000 : random.nextInt(2, 40);
    double[] seconds = random.doubles(samples, 0.01, 1).toArray();
    for (int i = 1; i < samples; i++) {
      seconds[i] += seconds[i - 1];
    }
    CyclicMemory worker = new CyclicMemory(seconds, random.doubles(samples, 0, 1e9).toArray());
    String text = MemoryCurveCsv.text(worker, List.of(4, 8, 32));
    double[] most = new double[5];
    long rows = 0;
    for (String line : text.split("\n", -1)) {
      if (!line.startsWith("time") && !line.isEmpty()) {
        String[] cells = line.split(",", -1);
        for (int i = 0; i < cells.length; i++) {
          most[i] = Math.max(most[i], Double.parseDouble(cells[i]));
        }
        rows++;
      }
    }
    assertTrue(rows <= MemoryCurveCsv.MOST_ROWS + 1, "rows: " + rows);
    assertEquals(worker.period(), most[0]);
    assertEquals(worker.most(), most[1]);
    assertEquals(worker.cyclic(4) / 4, most[2], 1e-3);
    assertEquals(worker.cyclic(8) / 8, most[3], 1e-3);
    assertEquals(worker.cyclic(32) / 32, most[4], 1e-3);
  }

  @Test
  void onlyOwnFilesAreOurs() {
    CyclicMemory worker = MemoryCurveCsv.read(file(GOOD)).above(0);
    assertTrue(MemoryCurveCsv.isOurs(file(MemoryCurveCsv.text(worker, List.of(4)))));
    assertFalse(MemoryCurveCsv.isOurs(file(GOOD)));
    assertFalse(MemoryCurveCsv.isOurs(folder.resolve("none")));
  }

  @Test
  void jsonHasARowForEachNumberOfWorkers() {
    CyclicMemory worker =
        new CyclicMemory(new double[] {0, 1, 2, 3, 4}, new double[] {1, 2, 2, 1, 1});
    JsonNode json =
        JsonMapper.shared().readTree(MemoryCurveJson.text("c.csv", worker, 5, List.of(1, 2)));
    assertEquals(4, json.at("/period_s").asDouble());
    assertEquals(5, json.at("/baseline_bytes").asDouble());
    assertEquals(2, json.at("/rows").size());
    assertEquals(0, json.at("/rows/0/reduction").asDouble());
    assertEquals(2, json.at("/rows/1/workers").asInt());
    assertEquals(2, json.at("/rows/1/dp_max_bytes").asDouble());
    assertEquals(1.5, json.at("/rows/1/cyclic_max_bytes").asDouble());
    assertEquals(0.25, json.at("/rows/1/reduction").asDouble());
  }
}
