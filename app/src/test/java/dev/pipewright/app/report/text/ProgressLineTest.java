package dev.pipewright.app.report.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.StepResult;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class ProgressLineTest {
  /**
   * @param made steps so far, this one included
   */
  private static StepResult step(long made, double loss, double rate, double seconds) {
    int samples = (int) Math.max(1, Math.round(rate * seconds));
    return new StepResult(made - 1, loss, Double.NaN, samples, seconds, 0.083);
  }

  private static String line(ProgressLine to, StepResult now) {
    return to.of(now, 1000, OptionalDouble.empty());
  }

  @Test
  void aTerminalHasABarAndAllFacts() {
    assertEquals(
        "step  250/1000  ███████▌······················  loss 1.2346  5,120 samples/s  12.5 ms/step"
            + "  0:09 left  idle 8.3 %",
        line(new ProgressLine(120, true, false), step(250, 1.23456, 5120, 0.0125)));
  }

  @Test
  void whatDoesNotFitIsLeftOutFromTheEnd() {
    StepResult now = step(5, 123456, 5.2, 2.5);
    assertEquals(
        "step    5/1000  loss 1.235e+05  5.20 samples/s  2.50 s/step  41:28 left",
        line(new ProgressLine(75, true, false), now));
    assertEquals(
        "step    5/1000  ········  loss 1.235e+05", line(new ProgressLine(40, true, false), now));
    assertEquals("step    5/1000  loss 1.235e+05", line(new ProgressLine(38, true, false), now));
    assertEquals("step  ", line(new ProgressLine(6, true, false), now));
  }

  @Test
  void aFileGetsNoBarAndNoColours() {
    String line = line(new ProgressLine(100, false, true), step(1000, 0.5, 2500, 4e-4));
    assertEquals(
        "step 1000/1000  loss 0.5000  2,500 samples/s  400 µs/step  0:00 left  idle 8.3 %", line);
  }

  @Test
  void coloursSurroundTheBarOnly() {
    ProgressLine plain = new ProgressLine(120, true, false);
    ProgressLine coloured = new ProgressLine(120, true, true);
    String line = line(coloured, step(500, 1, 1, 1));
    assertTrue(line.contains("\u001b[32m█"));
    assertEquals(line(plain, step(500, 1, 1, 1)), line.replaceAll("\u001b\\[\\d+m", ""));
  }

  @RepeatedTest(200)
  void noLineIsWiderThanTheTerminal(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int columns = random.nextInt(1, 160);
    long last = random.nextLong(1, 10_000_000);
    StepResult now =
        step(
            random.nextLong(0, last + 1),
            Math.pow(10, random.nextDouble(-12, 12)) * (random.nextBoolean() ? 1 : -1),
            Math.pow(10, random.nextDouble(-3, 9)),
            Math.pow(10, random.nextDouble(-6, 4)));
    for (boolean terminal : new boolean[] {false, true}) {
      String line =
          new ProgressLine(columns, terminal, true)
              .of(now, last, OptionalDouble.of(0.5))
              .replaceAll("\u001b\\[\\d+m", "");
      assertTrue(line.length() <= columns, line.length() + " > " + columns + ": " + line);
      assertFalse(line.contains("\n"));
    }
  }
}
