package dev.pipewright.runtime.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class ProgressLineTest {
  private static StepMetrics metrics(long step, double loss, double rate, double seconds) {
    Map<String, Double> values = new LinkedHashMap<>();
    values.put(StepMetrics.LOSS, loss);
    values.put(StepMetrics.SAMPLES_PER_SECOND, rate);
    values.put(StepMetrics.STEP_SECONDS, seconds);
    values.put(StepMetrics.IDLE_SHARE, 0.083);
    return new StepMetrics(step, 64 * step, 1.7e9, values);
  }

  @Test
  void aTerminalHasABarAndAllFacts() {
    assertEquals(
        "step  250/1000  ███████▌······················  loss 1.2346  5,120 samples/s  12.5 ms/step"
            + "  0:09 left  idle 8.3 %",
        new ProgressLine(120, true, false).of(metrics(250, 1.23456, 5120, 0.0125), 1000));
  }

  @Test
  void whatDoesNotFitIsLeftOutFromTheEnd() {
    StepMetrics now = metrics(5, 123456, 5.126, 2.5);
    assertEquals(
        "step    5/1000  loss 1.235e+05  5.13 samples/s  2.50 s/step  41:28 left",
        new ProgressLine(75, true, false).of(now, 1000));
    assertEquals(
        "step    5/1000  ········  loss 1.235e+05",
        new ProgressLine(40, true, false).of(now, 1000));
    assertEquals("step    5/1000  loss 1.235e+05", new ProgressLine(38, true, false).of(now, 1000));
    assertEquals("step  ", new ProgressLine(6, true, false).of(now, 1000));
  }

  @Test
  void aFileGetsNoBarAndNoColours() {
    String line = new ProgressLine(100, false, true).of(metrics(1000, 0.5, 64, 4e-4), 1000);
    assertEquals(
        "step 1000/1000  loss 0.5000  64.0 samples/s  400 µs/step  0:00 left  idle 8.3 %", line);
  }

  @Test
  void coloursSurroundTheBarOnly() {
    ProgressLine plain = new ProgressLine(120, true, false);
    ProgressLine coloured = new ProgressLine(120, true, true);
    String line = coloured.of(metrics(500, 1, 1, 1), 1000);
    assertTrue(line.contains("\u001b[32m█"));
    assertEquals(plain.of(metrics(500, 1, 1, 1), 1000), line.replaceAll("\u001b\\[\\d+m", ""));
  }

  @RepeatedTest(200)
  void noLineIsWiderThanTheTerminal(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int columns = random.nextInt(1, 160);
    long last = random.nextLong(1, 10_000_000);
    StepMetrics now =
        metrics(
            random.nextLong(0, last + 1),
            Math.pow(10, random.nextDouble(-12, 12)) * (random.nextBoolean() ? 1 : -1),
            Math.pow(10, random.nextDouble(-3, 9)),
            Math.pow(10, random.nextDouble(-6, 4)));
    for (boolean terminal : new boolean[] {false, true}) {
      String line =
          new ProgressLine(columns, terminal, true).of(now, last).replaceAll("\u001b\\[\\d+m", "");
      assertTrue(line.length() <= columns, line.length() + " > " + columns + ": " + line);
      assertFalse(line.contains("\n"));
    }
  }
}
