package dev.pipewright.app.report.chart;

import dev.pipewright.app.report.chart.Stack.Mark;
import java.util.ArrayList;
import java.util.List;

/**
 * Stacked bars as small multiples: a panel for each strategy, all on one axis.
 *
 * @param parts from below
 * @param capacity whether bars have a limit to draw
 * @param shares whether each bar has another below it, of full height, that shows its parts
 */
public record StackChart(
    String title,
    String hint,
    List<StackPart> parts,
    List<StackPanel> panels,
    StackAxis axis,
    boolean capacity,
    boolean shares) {
  private static final double MARGIN = 16;
  private static final int MOST_COLUMNS = 4;

  public StackChart {
    parts = List.copyOf(parts);
    panels = List.copyOf(panels);
  }

  /** Whether so many bars are too short to read, or are cut, that their parts need another look. */
  public static boolean needsShares(List<Double> totals, StackAxis axis) {
    long unreadable = totals.stream().filter(t -> axis.share(t) < 0.2 || axis.cuts(t)).count();
    return unreadable * 4 > totals.size();
  }

  /** Each panel as a picture within a page. */
  public List<String> inPage() {
    StackDrawing drawing = new StackDrawing(this);
    List<String> pictures = new ArrayList<>();
    for (StackPanel panel : panels) {
      Svg svg = Svg.inPage(StackDrawing.WIDTH, drawing.height(), title + ": " + panel.title());
      drawing.draw(svg, panel, 0, 0);
      pictures.add(svg.end());
    }
    return pictures;
  }

  /** All panels as one picture of its own. */
  public String document(String subject) {
    StackDrawing drawing = new StackDrawing(this);
    int rows = (panels.size() + MOST_COLUMNS - 1) / MOST_COLUMNS;
    int columns = Math.max(2, (panels.size() + rows - 1) / Math.max(1, rows));
    double width = MARGIN + columns * (StackDrawing.WIDTH + MARGIN);
    ChartHead head = new ChartHead(subject, title, hint, width - 2 * MARGIN);
    head.legend(this);
    double height = head.height() + rows * (drawing.height() + MARGIN);
    Svg svg = Svg.styled(width, height, title + ": " + subject, ChartHead.style());
    head.draw(svg, MARGIN);
    for (int i = 0; i < panels.size(); i++) {
      double x = MARGIN + i % columns * (StackDrawing.WIDTH + MARGIN);
      int row = i / columns;
      double y = head.height() + row * (drawing.height() + MARGIN);
      drawing.draw(svg, panels.get(i), x, y);
    }
    return svg.end();
  }

  /** Whether a part is in some bar. */
  boolean occurs(int part) {
    return stacks().stream()
        .anyMatch(stack -> !stack.parts().isEmpty() && stack.parts().get(part) > 0);
  }

  boolean occurs(Mark mark) {
    return stacks().stream().anyMatch(stack -> stack.mark() == mark);
  }

  public boolean cuts() {
    return stacks().stream().anyMatch(stack -> axis.cuts(stack.total()));
  }

  List<Stack> stacks() {
    return panels.stream().flatMap(panel -> panel.stacks().stream()).toList();
  }
}
