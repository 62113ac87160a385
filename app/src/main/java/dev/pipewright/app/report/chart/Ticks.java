package dev.pipewright.app.report.chart;

import dev.pipewright.units.Units;

/**
 * Round marks on a time axis from 0: steps of 1, 2 or 5 times a power of ten, in one unit.
 *
 * @param seconds between two marks
 * @param count how many marks there are, the one at 0 included
 * @param unit of the labels
 * @param scale from seconds to that unit
 * @param decimals of the labels
 */
public record Ticks(double seconds, int count, String unit, double scale, int decimals) {

  /** At most {@code most} marks, at least one. */
  public static Ticks of(double stepSeconds, int most) {
    if (!(stepSeconds > 0)) {
      return new Ticks(1, 1, "s", 1, 0);
    }
    double least = stepSeconds / Math.max(1, most - 1);
    double power = Math.pow(10, Math.floor(Math.log10(least)));
    double wanted = least / power;
    double round = wanted <= 1.0001 ? 1 : wanted <= 2.0001 ? 2 : wanted <= 5.0001 ? 5 : 10;
    double seconds = round * power;
    int count = (int) Math.floor(stepSeconds / seconds * 1.0000001) + 1;
    String unit = unit(stepSeconds);
    double scale = scale(unit);
    int decimals = (int) Math.max(0, -Math.floor(Math.log10(seconds * scale) + 1e-9));
    return new Ticks(seconds, count, unit, scale, Math.min(6, decimals));
  }

  public double at(int mark) {
    return mark * seconds;
  }

  /** {@code 150}, without the unit. */
  public String label(int mark) {
    return mark == 0 ? "0" : Units.fixed(at(mark) * scale, decimals);
  }

  /** The unit in which {@code seconds} is at least one. */
  public static String unit(double seconds) {
    return seconds >= 1 ? "s" : seconds >= 1e-3 ? "ms" : seconds >= 1e-6 ? "µs" : "ns";
  }

  public static double scale(String unit) {
    return switch (unit) {
      case "s" -> 1;
      case "ms" -> 1e3;
      case "µs" -> 1e6;
      default -> 1e9;
    };
  }
}
