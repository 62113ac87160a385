package dev.pipewright.units;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UnitsTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0 B",
    "1, 1 B",
    "12, 12 B",
    "1023, 1023 B",
    "1024, 1.00 KiB",
    "1536, 1.50 KiB",
    "17179869184, 16 GiB",
    "9223372036854775807, 8.00 EiB"
  })
  void bytesHaveBinaryPrefixes(long bytes, String text) {
    assertEquals(text, new Bytes(bytes).toString());
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0 s",
    "0.0213, 21.3 ms",
    "1.5, 1.50 s",
    "59.96, 60.0 s",
    "120, 120 s",
    "0.00001, 10 µs",
    "3e-9, 3.00 ns",
    "0.5e-9, 0.50 ns",
    "-0.002, -2.00 ms"
  })
  void secondsHaveThreeDigits(double seconds, String text) {
    assertEquals(text, Units.seconds(seconds));
  }

  @ParameterizedTest
  @CsvSource({"15.7e12, 15.7 TFLOP/s", "1e3, 1.00 kFLOP/s", "1e26, 100000 ZFLOP/s"})
  void ratesHaveDecimalPrefixes(double rate, String text) {
    assertEquals(text, new FlopsPerSecond(rate).toString());
  }

  @Test
  void sharesArePercent() {
    assertEquals("9.3 %", Units.percent(0.0931));
    assertEquals("100.0 %", Units.percent(1));
  }

  @Test
  void amountsAddUpAndOverflowThrows() {
    assertEquals(new Bytes(5), new Bytes(2).plus(new Bytes(3)));
    assertEquals(new Seconds(5), new Seconds(2).plus(new Seconds(3)));
    Bytes most = new Bytes(Long.MAX_VALUE);
    assertThrows(ArithmeticException.class, () -> most.plus(new Bytes(1)));
    assertEquals(new Seconds(2), new Bytes(10).over(new BytesPerSecond(5)));
    assertEquals(new Bytes(3L << 29), Bytes.gib(1.5));
    assertTrue(new Bytes(1).compareTo(new Bytes(2)) < 0);
  }

  @Test
  void whatIsNoAmountIsNamed() {
    assertEquals("bytes must be >= 0: bytes=-1", message(() -> new Bytes(-1)));
    assertEquals("seconds must be finite and >= 0: -1.0", message(() -> new Seconds(-1)));
  }

  @ParameterizedTest
  @ValueSource(doubles = {-1, Double.NaN, Double.POSITIVE_INFINITY})
  void amountsAreFiniteAndNotNegative(double wrong) {
    assertThrows(IllegalArgumentException.class, () -> Bytes.of(wrong));
    assertThrows(IllegalArgumentException.class, () -> new Seconds(wrong));
    assertThrows(IllegalArgumentException.class, () -> new BytesPerSecond(wrong));
    assertThrows(IllegalArgumentException.class, () -> new BytesPerSecond(0));
    assertThrows(IllegalArgumentException.class, () -> new FlopsPerSecond(wrong));
  }

  private static String message(org.junit.jupiter.api.function.Executable wrong) {
    return String.valueOf(assertThrows(IllegalArgumentException.class, wrong).getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    "3e-4,0.0003",
    "1e-7,0.0000001",
    "0.01,0.01",
    "1,1",
    "100,100",
    "0,0",
    "1e-30,1.0E-30"
  })
  void plainNumbersHaveNoExponentWherePeopleWriteNone(double value, String expected) {
    assertEquals(expected, Units.plain(value));
  }
}
