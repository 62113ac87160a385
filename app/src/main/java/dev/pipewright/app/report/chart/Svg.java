package dev.pipewright.app.report.chart;

import dev.pipewright.app.report.page.Markup;
import dev.pipewright.app.report.text.Numbers;

/** Writes the few elements of SVG that the pictures are made of. Lengths are pixels. */
public final class Svg {
  /** Fonts that every system has, so that a file carries none. */
  private static final String FONTS =
      "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";

  /**
   * A file that is opened alone is as wide as its window where that is narrower, and scrolls where
   * its words would become too small.
   */
  private static final String FITS = "max-width:max(100%,720px);height:auto";

  private final StringBuilder out = new StringBuilder(1 << 16);

  private Svg() {}

  /** A picture whose {@code style} has colours for light and for dark surroundings. */
  public static Svg styled(double width, double height, String title, String style) {
    Svg svg = new Svg();
    svg.start(
        width,
        height,
        "xmlns=\"http://www.w3.org/2000/svg\" class=\"study\" style=\"" + FITS + '"');
    svg.title(title);
    svg.out.append("<style>\n").append(style).append("</style>\n");
    svg.out.append("<rect width=\"100%\" height=\"100%\" class=\"page\"/>\n");
    return svg;
  }

  /** A picture within a page, whose style and background it takes. */
  public static Svg inPage(double width, double height, String title) {
    Svg svg = new Svg();
    svg.start(width, height, "class=\"study\" aria-label=\"" + Markup.of(title) + '"');
    return svg;
  }

  private void start(double width, double height, String attributes) {
    out.append("<svg ").append(attributes).append(" width=\"");
    number(width).append("\" height=\"");
    number(height).append("\" viewBox=\"0 0 ");
    number(width).append(' ');
    number(height).append("\" role=\"img\" font-family=\"").append(FONTS).append("\">\n");
  }

  private void title(String title) {
    out.append("<title>");
    Markup.append(out, title);
    out.append("</title>\n");
  }

  public String end() {
    return out.append("</svg>\n").toString();
  }

  /** Opens a group whose elements share {@code attributes}. */
  public void open(String attributes) {
    out.append("<g ").append(attributes).append(">\n");
  }

  public void close() {
    out.append("</g>\n");
  }

  public void rect(double x, double y, double width, double height, String attributes) {
    rectStart(x, y, width, height, attributes);
    out.append("/>\n");
  }

  /** A rectangle that says {@code tip} under the pointer and to screen readers. */
  public void rect(double x, double y, double width, double height, String attributes, String tip) {
    rectStart(x, y, width, height, attributes);
    out.append("><title>");
    Markup.append(out, tip);
    out.append("</title></rect>\n");
  }

  private void rectStart(double x, double y, double width, double height, String attributes) {
    out.append("<rect x=\"");
    number(x).append("\" y=\"");
    number(y).append("\" width=\"");
    number(width).append("\" height=\"");
    number(height).append('"');
    attributes(attributes);
  }

  public void line(double x1, double y1, double x2, double y2, String attributes) {
    out.append("<path d=\"M");
    number(x1).append(' ');
    number(y1).append('L');
    number(x2).append(' ');
    number(y2).append('"');
    attributes(attributes);
    out.append("/>\n");
  }

  /** A path whose commands are in {@code path}; nothing when there are none. */
  public void path(StringBuilder path, String attributes) {
    if (!path.isEmpty()) {
      out.append("<path d=\"").append(path).append('"');
      attributes(attributes);
      out.append("/>\n");
    }
  }

  /** Text whose baseline begins (or as {@code attributes} say, ends) at a point. */
  public void text(double x, double y, String attributes, String text) {
    out.append("<text x=\"");
    number(x).append("\" y=\"");
    number(y).append('"');
    attributes(attributes);
    out.append('>');
    Markup.append(out, text);
    out.append("</text>\n");
  }

  private void attributes(String attributes) {
    if (!attributes.isEmpty()) {
      out.append(' ').append(attributes);
    }
  }

  private StringBuilder number(double value) {
    Numbers.appendShort(out, value);
    return out;
  }
}
