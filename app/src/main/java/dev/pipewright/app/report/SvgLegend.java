package dev.pipewright.app.report;

/** How wide words of legends are. */
final class SvgLegend {
  private SvgLegend() {}

  /** Pixels that {@code words} take in the widest of the usual fonts. */
  static double width(String words) {
    double width = 0;
    for (int i = 0; i < words.length(); i++) {
      char letter = words.charAt(i);
      width += "fijlrt ,-".indexOf(letter) >= 0 ? 4.3 : "mw".indexOf(letter) >= 0 ? 10.6 : 7.5;
    }
    return width;
  }
}
