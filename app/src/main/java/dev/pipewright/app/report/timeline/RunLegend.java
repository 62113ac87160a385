package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.chart.Look;
import dev.pipewright.app.report.chart.SvgLegend;
import dev.pipewright.app.report.page.HtmlPage;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.Set;

/** What the colours of runs stand for, and the classes that give them. */
final class RunLegend {
  private RunLegend() {}

  static SvgLegend of(Runs runs, double width) {
    SvgLegend legend = new SvgLegend(width);
    for (Look look : runs.drawn()) {
      for (Shown run : runs.all()) {
        if (run.drawn().contains(look)) {
          legend.add(style(look, 0, run.numbering().mostShade()), look.word);
          break;
        }
      }
    }
    int most = runs.mostShaded().numbering().mostShade();
    if (most > 0) {
      legend.add(style(Look.FORWARD, most, most), runs.shades());
    }
    if (runs.first().inBytes()) {
      legend.add("held", "memory of activations");
      legend.add("fixed", "of weights, gradients, optimizer state");
    }
    return legend;
  }

  /** The class of a shade of a colour; exchanges and transfers have one. */
  static String style(Look look, int shade, int most) {
    return look.numbered() ? look.letter + "" + shade + "of" + most : String.valueOf(look.letter);
  }

  /** The classes that pictures of the runs use. */
  static String style(Runs runs) {
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
}
