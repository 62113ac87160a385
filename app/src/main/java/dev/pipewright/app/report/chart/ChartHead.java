package dev.pipewright.app.report.chart;

import dev.pipewright.app.report.chart.Stack.Mark;
import dev.pipewright.app.report.page.HtmlPage;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.TextWidth;
import java.util.ArrayList;
import java.util.List;

/** Title, hint and legend above a picture of its own. */
public final class ChartHead {
  private static final double TOP = 78;
  private static final double SAMPLE = 12;

  private final String subject;
  private final String title;
  private final String hint;
  private final double width;
  private final List<Entry> entries = new ArrayList<>();

  /** A legend's sample: a class of colour, or a drawing that its word names. */
  public record Entry(Sample sample, String style, String words) {}

  enum Sample {
    AREA,
    PALE,
    HATCH,
    LIMIT,
    CUT,
    STAR
  }

  public ChartHead(String subject, String title, String hint, double width) {
    this.subject = subject;
    this.title = title;
    this.hint = hint;
    this.width = width;
  }

  public static String style() {
    return HtmlPage.resource("study-picture.css");
  }

  void legend(StackChart chart) {
    entries.addAll(entries(chart));
  }

  /** What a chart's bars need to have explained. */
  public static List<Entry> entries(StackChart chart) {
    List<Entry> entries = new ArrayList<>();
    for (int part = 0; part < chart.parts().size(); part++) {
      if (chart.occurs(part)) {
        StackPart look = chart.parts().get(part);
        entries.add(new Entry(Sample.AREA, look.style(), look.word()));
      }
    }
    add(entries, chart.capacity(), Sample.LIMIT, "device memory");
    add(entries, chart.occurs(Mark.BEST), Sample.STAR, "the choice");
    add(entries, chart.occurs(Mark.TOO_LARGE), Sample.PALE, "! does not fit into memory");
    add(entries, chart.cuts(), Sample.CUT, "goes on beyond the axis");
    add(entries, chart.occurs(Mark.IMPOSSIBLE), Sample.HATCH, "impossible");
    return entries;
  }

  private static void add(List<Entry> entries, boolean wanted, Sample sample, String words) {
    if (wanted) {
      entries.add(new Entry(sample, "", words));
    }
  }

  public double height() {
    return entries.isEmpty() ? TOP - 8 : TOP + legend().height();
  }

  private SvgLegend legend() {
    SvgLegend legend = new SvgLegend(width);
    for (Entry entry : entries) {
      legend.add((svg, x, y) -> sample(svg, entry, x, y), entry.words());
    }
    return legend;
  }

  public void draw(Svg svg, double left) {
    int letters = (int) (width / 11.2);
    svg.text(
        left,
        30,
        "font-size=\"18\" font-weight=\"600\" class=\"ink\"",
        TextWidth.cut(title, letters));
    svg.text(
        left, 49, "font-size=\"12\" class=\"soft\"", TextWidth.cut(subject, (int) (width / 7.5)));
    svg.text(left, 66, "font-size=\"12\" class=\"soft\"", TextWidth.cut(hint, (int) (width / 7.5)));
    legend().draw(svg, left, TOP);
  }

  /** A sample of 12 × 12 pixels. */
  public static void sample(Svg svg, Entry entry, double x, double y) {
    switch (entry.sample()) {
      case AREA -> SvgLegend.area(svg, entry.style(), x, y);
      case PALE -> {
        svg.rect(x, y, SAMPLE, SAMPLE, "class=\"wait\" fill-opacity=\"0.4\"");
        StringBuilder path = new StringBuilder("M");
        Numbers.appendShort(path, x + 0.5);
        Numbers.appendShort(path.append(' '), y + 0.5);
        svg.path(path.append("h11v11h-11z"), "class=\"axis\" stroke-dasharray=\"2 2\"");
      }
      case HATCH -> StackDrawing.hatch(svg, x, y, SAMPLE, SAMPLE);
      case LIMIT -> svg.line(x, y + 6, x + SAMPLE, y + 6, "class=\"limit\" stroke-width=\"1.5\"");
      case CUT -> {
        svg.rect(x + 1, y, SAMPLE - 2, SAMPLE, "class=\"compute\"");
        StackDrawing.cut(svg, x, y + 3, SAMPLE);
      }
      case STAR -> StackDrawing.star(svg, x + SAMPLE / 2, y + SAMPLE / 2);
    }
  }
}
