package dev.pipewright.app.report;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What the colours of runs stand for, and the classes that give them. */
final class RunLegend {
  private static final double LINE = 20;
  private static final double SAMPLE = 11;

  /**
   * A colour and what it stands for.
   *
   * @param style the colour's class
   */
  private record Entry(String style, String words) {}

  private final Runs runs;
  private final List<Entry> entries = new ArrayList<>();

  RunLegend(Runs runs) {
    this.runs = runs;
    Set<Look> drawn = runs.drawn();
    for (Look look : drawn) {
      for (Shown run : runs.all()) {
        if (run.drawn().contains(look)) {
          entries.add(new Entry(style(look, 0, run.numbering().mostShade()), look.word));
          break;
        }
      }
    }
    int most = runs.mostShaded().numbering().mostShade();
    if (most > 0) {
      entries.add(new Entry(style(Look.FORWARD, most, most), runs.shades()));
    }
    if (runs.first().inBytes()) {
      entries.add(new Entry("held", "memory of activations"));
      entries.add(new Entry("fixed", "of weights, gradients, optimizer state"));
    }
  }

  /** The class of a shade of a colour; exchanges and transfers have one. */
  static String style(Look look, int shade, int most) {
    return look.numbered() ? look.letter + "" + shade + "of" + most : String.valueOf(look.letter);
  }

  /** The classes that pictures of the runs use. */
  String style() {
    Set<String> classes = new LinkedHashSet<>();
    for (Shown run : runs.all()) {
      int most = run.numbering().mostShade();
      Set<Look> looks = EnumSet.of(Look.FORWARD);
      looks.addAll(run.looks());
      for (Look look : looks) {
        for (int shade = 0; shade <= (look.numbered() ? most : 0); shade++) {
          String fill = look.fill(shade, look.numbered() ? most : 0);
          classes.add(".study .%s { fill: %s; }\n".formatted(style(look, shade, most), fill));
        }
      }
    }
    return HtmlPage.resource("timeline-picture.css") + String.join("", classes);
  }

  /** The height of what {@link #draw} draws. */
  double height(double width) {
    return place(null, 0, 0, width);
  }

  /** In lines from {@code left}, {@code width} wide. */
  void draw(Svg svg, double left, double top, double width) {
    place(svg, left, top, width);
  }

  private double place(@Nullable Svg svg, double left, double top, double width) {
    double x = 0;
    double y = top;
    for (Entry entry : entries) {
      double taken = SAMPLE + 24 + SvgLegend.width(entry.words());
      if (x > 0 && x + taken > width) {
        x = 0;
        y += LINE;
      }
      if (svg != null) {
        svg.rect(left + x, y + 4, SAMPLE, SAMPLE, "rx=\"2\" class=\"" + entry.style() + '"');
        String ink = "font-size=\"12\" class=\"ink\"";
        svg.text(left + x + SAMPLE + 6, y + 14, ink, entry.words());
      }
      x += taken;
    }
    return y + LINE - top;
  }
}
