package dev.pipewright.app.report.chart;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class LogAxisTest {
  @Test
  void equalFactorsAreEqualDistances() {
    LogAxis axis = new LogAxis(1, 1024, 100, 200);
    for (int power = 0; power <= 10; power++) {
      assertEquals(100 + 10 * power, axis.at(Math.pow(2, power)), 1e-9);
    }
    assertEquals(150, new LogAxis(1, 1024, 200, 100).at(32), 1e-9);
  }

  @RepeatedTest(100)
  void showsAllValuesAndAFewRoundMarks(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    double least = Math.pow(10, random.nextDouble(-6, 9));
    double most = least * Math.pow(10, random.nextDouble() * random.nextInt(7));
    LogAxis axis = LogAxis.around(List.of(least, most), 4, 0, 400);
    assertTrue(axis.at(least) >= 0 && axis.at(most) <= 400);
    assertTrue(axis.most() / axis.least() >= 3.999);
    for (List<Double> marks : List.of(axis.decimalMarks(8), axis.binaryMarks(6))) {
      assertTrue(marks.size() >= 2 && marks.size() <= 8, "marks: " + marks);
      for (double mark : marks) {
        assertTrue(axis.at(mark) >= -1e-9 && axis.at(mark) <= 400 + 1e-9);
      }
    }
  }

  @Test
  void oneValueStandsInTheMiddle() {
    assertEquals(50, LogAxis.around(List.of(7.0), 4, 0, 100).at(7), 1e-9);
  }

  @Test
  void marksAreWordedShortly() {
    assertEquals("2 ms", LogChart.seconds(0.002));
    assertEquals("500 µs", LogChart.seconds(5e-4));
    assertEquals("10 s", LogChart.seconds(10));
    assertEquals("512 MiB", LogChart.bytes(512.0 * (1 << 20)));
    assertEquals("24 GiB", LogChart.bytes(24.0 * (1 << 30)));
    assertEquals("0.003", LogChart.count(0.003));
    assertEquals("500", LogChart.count(500));
    assertEquals("2k", LogChart.count(2_000));
    assertEquals("1M", LogChart.count(1e6));
  }

  @Test
  void rowsOfNamesKeepTheirOrderAndDistance() {
    double[] rows = Labels.spread(new double[] {10, 11, 12, 95, 96}, 10, 100);
    assertArrayEquals(new double[] {10, 25, 40, 85, 100}, rows);
    double[] many = Labels.spread(new double[20], 10, 100);
    for (int i = 1; i < many.length; i++) {
      assertTrue(many[i] > many[i - 1]);
    }
    assertTrue(many[0] >= 9.999 && many[19] <= 100);
  }
}
