package dev.pipewright.app.report.compare;

import dev.pipewright.app.report.chart.ChartHead;
import dev.pipewright.app.report.chart.Labels;
import dev.pipewright.app.report.chart.StackAxis;
import dev.pipewright.app.report.chart.Svg;
import dev.pipewright.app.report.chart.Ticks;
import dev.pipewright.app.report.compare.CyclicMemoryCurves.Workers;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Memory per worker over a training step, of workers in step and of cyclic ones, each with its
 * maximum as a dashed line: figure 4 of <i>Cyclic Data Parallelism for Efficient Parallelism of
 * Deep Neural Networks</i>, arXiv:2403.08837.
 */
public final class CyclicMemorySvg {
  /** What the title of every such picture begins with. */
  public static final String TITLE = "Memory of cyclic workers";

  private static final double WIDTH = 720;
  private static final double PLOT = 320;
  private static final double LEFT = 66;
  private static final double MARGIN = 16;
  private static final double TIE = 24; // between a line's end and its words
  private static final double LETTER = 7.5; // its width
  private static final String[] STYLES = {
    "data", "layers", "positions", "channels", "filters", "zero"
  };

  private final CyclicMemoryCurves curves;
  private final double top;
  private final double bottom;
  private final double right;
  private final StackAxis axis;

  /** One line with its maximum, or the line of the optimum, which has no curve. */
  private record Line(String style, String words, double[] bytes, double most) {}

  private CyclicMemorySvg(CyclicMemoryCurves curves, double top) {
    this.curves = curves;
    this.top = top;
    bottom = top + PLOT;
    axis = StackAxis.bytes(List.of(1.04 * curves.most()), Double.POSITIVE_INFINITY);
    double widest = 0;
    for (Line line : lines()) {
      widest = Math.max(widest, LETTER * line.words().length());
    }
    right = WIDTH - MARGIN - TIE - widest;
  }

  private List<Line> lines() {
    List<Line> lines = new ArrayList<>();
    lines.add(line("serial", "in step", curves.inStep(), curves.most()));
    for (int i = 0; i < curves.cyclic().size(); i++) {
      Workers workers = curves.cyclic().get(i);
      String style = STYLES[i % STYLES.length];
      lines.add(line(style, workers.count() + " cyclic", workers.bytes(), workers.most()));
    }
    lines.add(new Line("", "half", new double[0], curves.most() / 2));
    return lines;
  }

  private Line line(String style, String name, double[] bytes, double most) {
    double reduction = 1 - most / curves.most();
    String change = reduction < 0.0005 ? "" : ", −" + Units.percent(reduction);
    return new Line(style, name + ": " + Numbers.bytes(most) + change, bytes, most);
  }

  /** The picture as an SVG document. */
  public static String of(CyclicMemoryCurves curves) {
    String hint =
        "Total divided by the number of workers; each holds "
            + Numbers.bytes(curves.baseline())
            + " more all the time.";
    ChartHead head = new ChartHead(curves.source(), TITLE, hint, WIDTH - 2 * MARGIN);
    double top = head.height() + 26;
    Svg svg = Svg.styled(WIDTH, top + PLOT + 50, TITLE + ": " + curves.source(), ChartHead.style());
    head.draw(svg, MARGIN);
    new CyclicMemorySvg(curves, top).draw(svg);
    return svg.end();
  }

  private void draw(Svg svg) {
    svg.rect(LEFT, top, right - LEFT, PLOT, "class=\"plot\"");
    across(svg);
    up(svg);
    List<Line> lines = lines();
    lines.forEach(line -> curve(svg, line));
    names(svg, lines);
  }

  private double x(double seconds) {
    return LEFT + seconds / curves.periodSeconds() * (right - LEFT);
  }

  private double y(double bytes) {
    return bottom - axis.share(bytes) * PLOT;
  }

  private void across(Svg svg) {
    Ticks ticks = Ticks.of(curves.periodSeconds(), 8);
    for (int mark = 0; mark < ticks.count(); mark++) {
      double at = x(ticks.at(mark));
      svg.line(at, top, at, bottom, "class=\"grid\"");
      String style = "font-size=\"12\" text-anchor=\"middle\" class=\"soft\"";
      svg.text(at, bottom + 17, style, ticks.label(mark));
    }
    String style = "font-size=\"12\" text-anchor=\"middle\" class=\"ink\"";
    svg.text((LEFT + right) / 2, bottom + 36, style, "time in " + ticks.unit());
  }

  private void up(Svg svg) {
    for (StackAxis.Mark mark : axis.marks()) {
      double at = y(mark.value());
      svg.line(LEFT, at, right, at, "class=\"grid\"");
      svg.text(
          LEFT - 6, at + 4, "font-size=\"12\" text-anchor=\"end\" class=\"soft\"", mark.label());
    }
    svg.text(MARGIN, top - 10, "font-size=\"12\" class=\"ink\"", "memory per worker");
  }

  /** A staircase and its maximum. */
  private void curve(Svg svg, Line line) {
    double most = y(line.most());
    if (line.bytes().length == 0) {
      svg.line(LEFT, most, right, most, "class=\"axis\" stroke-dasharray=\"1 4\"");
      return;
    }
    svg.open("class=\"" + line.style() + '"');
    String paint = "fill=\"none\" stroke=\"currentColor\" stroke-linejoin=\"round\"";
    svg.path(staircase(line.bytes()), paint + " stroke-width=\"1.8\"");
    svg.line(LEFT, most, right, most, "stroke=\"currentColor\" stroke-dasharray=\"6 4\"");
    svg.close();
  }

  private StringBuilder staircase(double[] bytes) {
    StringBuilder path = new StringBuilder("M");
    Numbers.appendShort(path, LEFT);
    Numbers.appendShort(path.append(' '), y(bytes[0]));
    for (int i = 1; i < bytes.length; i++) {
      if (bytes[i] != bytes[i - 1]) {
        Numbers.appendShort(path.append('H'), LEFT + (right - LEFT) * i / bytes.length);
        Numbers.appendShort(path.append('V'), y(bytes[i]));
      }
    }
    Numbers.appendShort(path.append('H'), right);
    return path;
  }

  /** The names of all lines, each tied to the height of its maximum. */
  private void names(Svg svg, List<Line> lines) {
    List<Line> sorted =
        lines.stream().sorted(Comparator.comparingDouble(line -> -line.most())).toList();
    double[] wanted = sorted.stream().mapToDouble(line -> y(line.most())).toArray();
    double[] rows = Labels.spread(wanted, top, bottom);
    for (int i = 0; i < rows.length; i++) {
      Line line = sorted.get(i);
      boolean curve = line.bytes().length > 0;
      svg.open("class=\"" + line.style() + '"');
      svg.line(
          right,
          wanted[i],
          right + TIE - 6,
          rows[i],
          curve ? "stroke=\"currentColor\" stroke-width=\"1.8\"" : "class=\"axis\"");
      svg.close();
      String words = curve ? "class=\"ink\"" : "class=\"soft\"";
      svg.text(right + TIE - 2, rows[i] + 4, "font-size=\"12\" " + words, line.words());
    }
  }
}
