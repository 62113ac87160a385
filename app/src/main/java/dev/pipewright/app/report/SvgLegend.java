package dev.pipewright.app.report;

/** A row of colour samples with words, filled from the left. */
final class SvgLegend {
  private static final double SAMPLE = 12;

  private final Svg svg;
  private final double y;
  private double x;

  /** Begins at {@code x}; the words stand on the line {@code y}. */
  SvgLegend(Svg svg, double x, double y) {
    this.svg = svg;
    this.x = x;
    this.y = y;
  }

  void add(String fill, String words) {
    String paint = "fill=\"" + fill + "\" stroke=\"#000000\" stroke-opacity=\"0.25\" rx=\"2\"";
    svg.rect(x + 0.5, y - 10.5, SAMPLE - 1, SAMPLE - 1, paint);
    words(words);
  }

  void addLine(String stroke, String words) {
    svg.line(x, y - 5, x + SAMPLE + 4, y - 5, stroke);
    x += 4;
    words(words);
  }

  private void words(String words) {
    svg.text(x + SAMPLE + 5, y, "font-size=\"12\" fill=\"#1A1D21\"", words);
    x += SAMPLE + 5 + width(words) + 18;
  }

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
