package dev.pipewright.formats.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Java's own text of a number is the referee. */
class NumberWriterTest {
  private static final double[] EDGES = {
    0.0,
    -0.0,
    0.0,
    0.0,
    1,
    1,
    -1,
    10,
    9.5,
    1e-3,
    9.99e-4,
    0.001000001,
    0.0010000001,
    1e7,
    9999999.5,
    9999999.9999999,
    12345678,
    0.1 + 0.2,
    1 / 3.0,
    100.5,
    1.05,
    1.999999,
    1.9999999,
    4.35,
    0.000001,
    1e15,
    1e22,
    Double.MIN_VALUE,
    Double.MAX_VALUE,
    Double.NaN,
    Double.NEGATIVE_INFINITY
  };

  private static void same(double... numbers) {
    StringWriter text = new StringWriter();
    NumberWriter writer = new NumberWriter(text);
    StringBuilder expected = new StringBuilder();
    for (double number : numbers) {
      writer.add(number).add(" ");
      expected.append(number).append(' ');
    }
    writer.flush();
    assertEquals(expected.toString(), text.toString());
  }

  @Test
  void edges() {
    same(EDGES);
    for (double edge : EDGES) {
      same(Math.nextUp(edge), edge, Math.nextDown(edge), edge, edge);
    }
  }

  @RepeatedTest(value = 50, name = "seed {currentRepetition}")
  void doublesOfEveryKind(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    double[] numbers = new double[20_000]; // more than the buffer holds
    double sum = 0;
    double step = random.nextInt(1, 1000) / 1000.0;
    for (int i = 0; i < numbers.length; i++) {
      sum += step;
      numbers[i] =
          switch (random.nextInt(6)) {
            case 0 -> Double.longBitsToDouble(random.nextLong());
            case 1 -> random.nextInt();
            case 2 -> random.nextInt(100_000_000) / Math.pow(10, random.nextInt(9));
            case 3 -> Math.nextUp(random.nextInt(1_000_000) / 1000.0);
            case 4 -> i == 0 ? 1 : numbers[i - 1];
            default -> sum;
          };
    }
    same(numbers);
  }

  @Test
  void wholeNumbersAndTexts() {
    StringWriter text = new StringWriter();
    NumberWriter writer = new NumberWriter(text);
    StringBuilder expected = new StringBuilder();
    for (int number = 1; number <= 100_000_000; number *= 10) {
      for (int each : new int[] {number - 1, number, number + 1, -number}) {
        writer.add(each).add(", ");
        expected.append(each).append(", ");
      }
    }
    for (int each : new int[] {Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      writer.add(each);
      expected.append(each);
    }
    writer.flush();
    assertEquals(expected.toString(), text.toString());
  }

  @Test
  void aWriterThatFailsIsNotHidden() {
    Writer broken =
        new Writer() {
          @Override
          public void write(char[] text, int from, int length) throws IOException {
            throw new IOException("full");
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    NumberWriter writer = new NumberWriter(broken).add(1);
    assertThrows(UncheckedIOException.class, writer::flush);
  }
}
