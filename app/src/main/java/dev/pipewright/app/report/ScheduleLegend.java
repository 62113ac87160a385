package dev.pipewright.app.report;

import dev.pipewright.schedule.Op.Pass;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** What the colours of schedules stand for, and the classes that give them. */
final class ScheduleLegend {
  private static final double LINE = 20;
  private static final double SAMPLE = 11;

  /**
   * A colour and what it stands for.
   *
   * @param style the colour's class
   */
  private record Entry(String style, String words) {}

  private final List<ScheduleRun> runs;
  private final List<Entry> entries = new ArrayList<>();

  ScheduleLegend(List<ScheduleRun> runs) {
    this.runs = runs;
    Set<Pass> passes = EnumSet.noneOf(Pass.class);
    ScheduleRun most = runs.get(0);
    for (ScheduleRun run : runs) {
      passes.addAll(run.drawnPasses());
      most = mostShade(run) > mostShade(most) ? run : most;
    }
    for (Pass pass : passes) {
      ScheduleRun owner =
          runs.stream().filter(run -> run.passes().contains(pass)).findFirst().orElseThrow();
      entries.add(new Entry(style(pass, 0, mostShade(owner)), ScheduleLook.of(pass).words));
    }
    if (mostShade(most) > 0) {
      String palest = style(most.passes().iterator().next(), mostShade(most), mostShade(most));
      String words =
          most.runsBothWays() ? "lighter: from the other end" : "lighter: a rank's later stages";
      entries.add(new Entry(palest, words));
    }
  }

  static int mostShade(ScheduleRun run) {
    return Arrays.stream(run.shades()).max().orElse(0);
  }

  /** The class of a shade of a pass's colour; exchanges have one. */
  static String style(Pass pass, int shade, int most) {
    return pass.exchanges() ? pass.letter() : pass.letter() + shade + "of" + most;
  }

  /** The classes that pictures of the schedules use. */
  String style() {
    Set<String> classes = new LinkedHashSet<>();
    for (ScheduleRun run : runs) {
      int most = mostShade(run);
      for (Pass pass : run.passes()) {
        for (int shade = 0; shade <= most; shade++) {
          String fill = ScheduleLook.of(pass).fill(pass.exchanges() ? 0 : shade, most);
          classes.add(".study .%s { fill: %s; }\n".formatted(style(pass, shade, most), fill));
        }
      }
    }
    return HtmlReport.resource("schedule-picture.css") + String.join("", classes);
  }

  /** The height of what {@link #draw} draws. */
  double height(double width) {
    double x = 0;
    double height = LINE;
    for (Entry entry : entries) {
      if (x > 0 && x + taken(entry) > width) {
        x = 0;
        height += LINE;
      }
      x += taken(entry);
    }
    return height;
  }

  private static double taken(Entry entry) {
    return SAMPLE + 24 + SvgLegend.width(entry.words());
  }

  /** In lines from {@code left}, {@code width} wide. */
  void draw(Svg svg, double left, double top, double width) {
    double x = 0;
    double y = top + 14;
    for (Entry entry : entries) {
      if (x > 0 && x + taken(entry) > width) {
        x = 0;
        y += LINE;
      }
      sample(svg, entry, left + x, y - 10);
      svg.text(left + x + SAMPLE + 6, y, "font-size=\"12\" class=\"ink\"", entry.words());
      x += taken(entry);
    }
  }

  private static void sample(Svg svg, Entry entry, double x, double y) {
    svg.rect(x, y, SAMPLE, SAMPLE, "rx=\"2\" class=\"" + entry.style() + '"');
  }

  /** As a list of a page. */
  String list() {
    StringBuilder out = new StringBuilder("<ul class=\"legend\">");
    for (Entry entry : entries) {
      Svg sample = Svg.inPage(SAMPLE, SAMPLE, "");
      sample(sample, entry, 0, 0);
      out.append("<li>").append(sample.end()).append(Markup.of(entry.words())).append("</li>");
    }
    return out.append("</ul>\n").toString();
  }
}
