package dev.pipewright.app.report.chart;

import dev.pipewright.app.report.chart.Stack.Mark;
import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.TextWidth;
import java.util.List;

/** Draws the panels of a {@link StackChart}, all alike. */
public final class StackDrawing {
  /** Pixels of a panel. */
  static final double WIDTH = 320;

  private static final double LEFT = 50; // labels of the axis
  private static final double RIGHT = 4;
  private static final double TITLE = 22;
  private static final double PLOT = 132;
  private static final double SHARES = 26;
  private static final double COUNTS = 30; // device counts, stars
  private static final double FIGURE = 10; // size of the letters above bars
  private static final double COUNT = 9.5;

  /** Of bars that do not fit. */
  private static final String PALE = "class=\"bar\" fill-opacity=\"0.4\"";

  private final StackChart chart;
  private final double slot;
  private final double bar;
  private final boolean upright;
  private final double head;

  StackDrawing(StackChart chart) {
    this.chart = chart;
    int slots = 1;
    double longest = 0;
    for (StackPanel panel : chart.panels()) {
      slots = Math.max(slots, panel.stacks().size());
      for (Stack stack : panel.stacks()) {
        longest = Math.max(longest, width(stack.figure(), FIGURE));
      }
    }
    slot = (WIDTH - LEFT - RIGHT) / slots;
    bar = Math.min(44, 0.74 * slot);
    upright = longest + 2 > slot;
    head = TITLE + 4 + room();
  }

  /** Pixels that the highest figure reaches above the axis. */
  private double room() {
    double room = 0;
    for (Stack stack : chart.stacks()) {
      if (!stack.figure().isEmpty()) {
        double above = upright ? width(stack.figure(), FIGURE) + 8 : 16;
        room = Math.max(room, above - PLOT * (1 - chart.axis().share(stack.total())));
      }
    }
    return room;
  }

  public static double width(String words, double size) {
    return SvgLegend.width(words) * size / 12;
  }

  double height() {
    return head + PLOT + (chart.shares() ? SHARES + 6 : 0) + COUNTS;
  }

  void draw(Svg svg, StackPanel panel, double x, double y) {
    svg.open("font-variant-numeric=\"tabular-nums\"");
    svg.text(x, y + 14, "font-size=\"13\" font-weight=\"600\" class=\"ink\"", panel.title());
    axis(svg, x, y + head);
    for (int i = 0; i < panel.stacks().size(); i++) {
      stack(svg, panel.stacks().get(i), x + LEFT + i * slot, y + head);
    }
    limits(svg, panel, x, y + head);
    for (int i = 0; i < panel.stacks().size(); i++) {
      words(svg, panel.stacks().get(i), x + LEFT + i * slot, y + head);
    }
    counts(svg, panel.stacks(), x + LEFT, y + height() - COUNTS + 14);
    note(svg, panel, x + LEFT + 8, y + head + 20);
    svg.close();
  }

  private void axis(Svg svg, double x, double top) {
    double above = head - TITLE;
    svg.rect(x + LEFT, top - above, WIDTH - LEFT - RIGHT, PLOT + above, "class=\"plot\"");
    for (StackAxis.Mark mark : chart.axis().marks()) {
      double y = height(mark.value(), top);
      svg.line(x + LEFT, y, x + WIDTH - RIGHT, y, "class=\"grid\"");
      svg.text(
          x + LEFT - 5,
          y + 3.5,
          "font-size=\"10\" text-anchor=\"end\" class=\"soft\"",
          mark.label());
    }
    if (chart.shares()) {
      svg.text(
          x + LEFT - 5,
          top + PLOT + 6 + SHARES / 2 + 3.5,
          "font-size=\"10\" text-anchor=\"end\" class=\"soft\"",
          "shares");
    }
  }

  /** The vertical place of an amount on the axis. */
  private double height(double amount, double top) {
    return top + PLOT * (1 - chart.axis().share(amount));
  }

  private void stack(Svg svg, Stack stack, double x, double top) {
    double left = x + (slot - bar) / 2;
    if (stack.mark() == Mark.IMPOSSIBLE) {
      double above = head - TITLE;
      hatch(svg, left, top - above, bar, PLOT + above);
    } else {
      svg.open(stack.mark() == Mark.TOO_LARGE ? PALE : "class=\"bar\"");
      amounts(svg, stack, left, top);
      if (chart.shares()) {
        shares(svg, stack, left, top + PLOT + 6);
      }
      svg.close();
      outline(svg, stack, left, top);
      if (chart.axis().cuts(stack.total())) {
        cut(svg, left - 1, top + 7, bar + 2);
      }
    }
  }

  private void words(Svg svg, Stack stack, double x, double top) {
    if (stack.mark() != Mark.IMPOSSIBLE) {
      figure(svg, stack, x + slot / 2, top);
    }
    double height = PLOT + (chart.shares() ? SHARES + 6 : 0);
    svg.rect(x, top, slot, height, "fill=\"none\" pointer-events=\"all\"", stack.tip());
  }

  private void amounts(Svg svg, Stack stack, double left, double top) {
    double below = 0;
    for (int part = 0; part < stack.parts().size(); part++) {
      double above = below + stack.parts().get(part);
      double y = height(above, top);
      part(svg, part, left, y, height(below, top) - y);
      below = above;
    }
  }

  private void outline(Svg svg, Stack stack, double left, double top) {
    if (stack.mark() == Mark.TOO_LARGE) {
      double y = height(stack.total(), top);
      StringBuilder path = new StringBuilder("M");
      Numbers.appendShort(path, left);
      Numbers.appendShort(path.append(' '), top + PLOT);
      Numbers.appendShort(path.append('V'), y);
      Numbers.appendShort(path.append('H'), left + bar);
      Numbers.appendShort(path.append('V'), top + PLOT);
      svg.path(path, "class=\"axis\" stroke-dasharray=\"2 2\"");
    }
  }

  private void shares(Svg svg, Stack stack, double left, double top) {
    double total = stack.total();
    double below = 0;
    for (int part = 0; part < stack.parts().size() && total > 0; part++) {
      double above = below + stack.parts().get(part);
      part(svg, part, left, top + SHARES * (1 - above / total), SHARES * (above - below) / total);
      below = above;
    }
  }

  private void part(Svg svg, int part, double x, double y, double height) {
    if (height > 0.005) {
      svg.rect(x, y, bar, height, "class=\"" + chart.parts().get(part).style() + '"');
    }
  }

  private void figure(Svg svg, Stack stack, double middle, double top) {
    double y = height(stack.total(), top) - 4;
    String style = "font-size=\"10\" class=\"above\"";
    if (stack.mark() == Mark.BEST) {
      style += " font-weight=\"600\"";
    }
    if (upright) {
      StringBuilder turn = new StringBuilder(" transform=\"rotate(-90 ");
      Numbers.appendShort(turn, middle + 3.5);
      Numbers.appendShort(turn.append(' '), y);
      svg.text(middle + 3.5, y, style + turn + ")\"", stack.figure());
    } else {
      svg.text(middle, y, style + " text-anchor=\"middle\"", stack.figure());
    }
  }

  private void limits(Svg svg, StackPanel panel, double x, double top) {
    if (!chart.capacity()) {
      return;
    }
    for (int i = 0; i < panel.stacks().size(); i++) {
      double limit = panel.stacks().get(i).limit();
      if (Figure.isLimited(limit)) {
        double y = height(limit, top);
        double left = x + LEFT + i * slot;
        svg.line(left, y, left + slot, y, "class=\"limit\" stroke-width=\"1.5\"");
      }
    }
  }

  /** Device counts from the last to the first, as many as have room, with stars below. */
  private void counts(Svg svg, List<Stack> stacks, double left, double y) {
    double free = Double.POSITIVE_INFINITY;
    for (int i = stacks.size() - 1; i >= 0; i--) {
      Stack stack = stacks.get(i);
      double middle = left + (i + 0.5) * slot;
      String words = Integer.toString(stack.devices());
      double half = width(words, COUNT) / 2;
      if (middle + half <= free) {
        svg.text(middle, y, "font-size=\"9.5\" text-anchor=\"middle\" class=\"soft\"", words);
        free = middle - half - 3;
      }
      if (stack.mark() == Mark.BEST) {
        star(svg, middle, y + 9);
      }
    }
  }

  private static void note(Svg svg, StackPanel panel, double x, double y) {
    if (panel.note().isEmpty()) {
      return;
    }
    StringBuilder wrapped = new StringBuilder();
    TextWidth.wrap(wrapped, panel.note(), 36, 0);
    List<String> lines = wrapped.toString().lines().limit(6).toList();
    svg.rect(x - 4, y - 14, WIDTH - LEFT - 16, 16 * lines.size() + 6, "class=\"page\" rx=\"3\"");
    for (int i = 0; i < lines.size(); i++) {
      svg.text(x, y + 16 * i, "font-size=\"11.5\" class=\"ink\"", lines.get(i));
    }
  }

  /** Slanted lines where no bar can be. */
  static void hatch(Svg svg, double x, double y, double width, double height) {
    StringBuilder path = new StringBuilder();
    for (double start = 6; start < width + height; start += 6) { // from the left or lower edge
      double x1 = x + Math.max(0, start - height);
      double y1 = y + Math.min(start, height);
      double x2 = x + Math.min(start, width);
      double y2 = y + Math.max(0, start - width);
      Numbers.appendShort(path.append('M'), x1);
      Numbers.appendShort(path.append(' '), y1);
      Numbers.appendShort(path.append('L'), x2);
      Numbers.appendShort(path.append(' '), y2);
    }
    svg.path(path, "class=\"hatch\"");
  }

  /** A gap across a bar that goes on. */
  static void cut(Svg svg, double x, double y, double width) {
    svg.line(x, y + 4, x + width, y, "class=\"cut\" stroke-width=\"3\"");
  }

  /** A star of 10 pixels around a point. */
  static void star(Svg svg, double x, double y) {
    StringBuilder path = new StringBuilder();
    for (int corner = 0; corner < 10; corner++) {
      double radius = corner % 2 == 0 ? 5 : 2.1;
      double angle = Math.PI * corner / 5;
      Numbers.appendShort(path.append(corner == 0 ? 'M' : 'L'), x + radius * Math.sin(angle));
      Numbers.appendShort(path.append(' '), y - radius * Math.cos(angle));
    }
    svg.path(path.append('Z'), "class=\"accent\"");
  }
}
