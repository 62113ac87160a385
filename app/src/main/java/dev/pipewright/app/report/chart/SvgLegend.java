package dev.pipewright.app.report.chart;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Samples with words, in lines of a picture. */
public final class SvgLegend {
  private static final double SAMPLE = 12;
  private static final double LINE = 20;

  private final double width;
  private final List<Entry> entries = new ArrayList<>();

  /** Draws a sample of 12 × 12 pixels. */
  public interface Sample {
    public void draw(Svg svg, double x, double y);
  }

  private record Entry(Sample sample, String words) {}

  public SvgLegend(double width) {
    this.width = width;
  }

  public void add(Sample sample, String words) {
    entries.add(new Entry(sample, words));
  }

  /** A sample of a class's colour. */
  public void add(String style, String words) {
    add((svg, x, y) -> area(svg, style, x, y), words);
  }

  static void area(Svg svg, String style, double x, double y) {
    svg.rect(x, y, SAMPLE, SAMPLE, "class=\"" + style + "\" rx=\"2\"");
  }

  public double height() {
    return entries.isEmpty() ? 0 : place(null, 0, 0);
  }

  public void draw(Svg svg, double left, double top) {
    place(svg, left, top);
  }

  private double place(@Nullable Svg svg, double left, double top) {
    double x = 0;
    double y = top;
    for (Entry entry : entries) {
      double taken = SAMPLE + 5 + width(entry.words()) + 18;
      if (x > 0 && x + taken > width) {
        x = 0;
        y += LINE;
      }
      if (svg != null) {
        entry.sample().draw(svg, left + x, y);
        String ink = "font-size=\"12\" class=\"ink\"";
        svg.text(left + x + SAMPLE + 5, y + 10, ink, entry.words());
      }
      x += taken;
    }
    return y + LINE - top;
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
