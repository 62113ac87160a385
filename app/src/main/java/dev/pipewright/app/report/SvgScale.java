package dev.pipewright.app.report;

/**
 * Where things are in a picture of so many stages: few get tall lanes, many get thin ones.
 *
 * @param stepSeconds the time that spans from {@code left} to {@code right}
 * @param gap above each compute lane
 */
record SvgScale(
    double stepSeconds,
    double left,
    double right,
    double laneHeight,
    double linkHeight,
    double gap,
    double memoryHeight,
    Ticks ticks) {
  /** The colour of a lane where nothing happens. */
  static final String IDLE = "#EEF0F2";

  private static final double LEFT = 168; // stage numbers and devices

  static SvgScale of(double stepSeconds, int stages, double right) {
    Ticks ticks = Ticks.of(stepSeconds, 12);
    if (stages <= 4) {
      return new SvgScale(stepSeconds, LEFT, right, 36, 9, 6, 56, ticks);
    }
    if (stages <= 8) {
      return new SvgScale(stepSeconds, LEFT, right, 28, 7, 4, 42, ticks);
    }
    return stages <= 24
        ? new SvgScale(stepSeconds, LEFT, right, 22, 5, 3, 30, ticks)
        : new SvgScale(stepSeconds, LEFT, right, 13, 3, 2, 16, ticks);
  }

  double x(double seconds) {
    return stepSeconds > 0 ? left + seconds / stepSeconds * (right - left) : left;
  }
}
