package dev.pipewright.bench.plot;

import java.util.Locale;

/** Writes the few elements of SVG that plots are made of. Lengths are pixels. */
final class Svg {
  private static final String FONTS =
      "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";

  /** An average letter is this part of the font's size wide, rather more than less. */
  private static final double LETTER = 0.56;

  private final StringBuilder out = new StringBuilder();

  Svg(double width, double height, String title) {
    out.append(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%s\" height=\"%s\" viewBox=\"0 0 %s %s\" role=\"img\" font-family=\"%s\" font-size=\"13\" fill=\"#1A1A1A\">\n"
            .formatted(number(width), number(height), number(width), number(height), FONTS));
    out.append("<title>").append(escape(title)).append("</title>\n");
    out.append("<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n");
  }

  String end() {
    return out + "</svg>\n";
  }

  void line(double x1, double y1, double x2, double y2, String attributes) {
    path("M" + number(x1) + " " + number(y1) + "L" + number(x2) + " " + number(y2), attributes);
  }

  void path(String commands, String attributes) {
    out.append("<path d=\"%s\" %s/>\n".formatted(commands, attributes));
  }

  void circle(double x, double y, double radius, String attributes) {
    out.append(
        "<circle cx=\"%s\" cy=\"%s\" r=\"%s\" %s/>\n"
            .formatted(number(x), number(y), number(radius), attributes));
  }

  void text(double x, double y, String attributes, String text) {
    out.append(
        "<text x=\"%s\" y=\"%s\" %s>%s</text>\n"
            .formatted(number(x), number(y), attributes, escape(text)));
  }

  /** About how wide {@code text} becomes. */
  static double width(String text, double size) {
    return text.codePointCount(0, text.length()) * size * LETTER;
  }

  static String number(double value) {
    String text = String.format(Locale.ROOT, "%.2f", value);
    return text.endsWith(".00") ? text.substring(0, text.length() - 3) : text;
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
