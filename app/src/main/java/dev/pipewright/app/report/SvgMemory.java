package dev.pipewright.app.report;

import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Memory;

/** Memory over time, one area for each stage, its capacity as a dashed line. */
final class SvgMemory {
  private static final String STATIC = "#9AA7B4";
  private static final String HELD = "#8CC8EC";
  private static final String LIMIT = "stroke=\"#1A1D21\" stroke-dasharray=\"5 3\"";

  private final Timeline timeline;
  private final SvgScale scale;
  private final double[] capacities;

  SvgMemory(Timeline timeline, SvgScale scale, double[] capacities) {
    this.timeline = timeline;
    this.scale = scale;
    this.capacities = capacities;
  }

  double height() {
    return timeline.memory().size() * (scale.memoryHeight() + scale.gap());
  }

  void head(Svg svg, double baseline) {
    String style = "font-size=\"14\" font-weight=\"600\" fill=\"#1A1D21\"";
    svg.text(16, baseline, style, "memory per device");
    SvgLegend legend = new SvgLegend(svg, scale.left() + 24, baseline);
    legend.add(HELD, "activations");
    legend.add(STATIC, "weights, gradients, optimizer state");
    for (Memory memory : timeline.memory()) {
      if (isLimited(memory)) {
        legend.addLine(LIMIT, "capacity");
        return;
      }
    }
  }

  void areas(Svg svg, double top) {
    double y = top;
    for (Memory memory : timeline.memory()) {
      area(svg, memory, y + scale.gap());
      y += scale.memoryHeight() + scale.gap();
    }
  }

  private boolean isLimited(Memory memory) {
    return memory.rank() < capacities.length && Figure.isLimited(capacities[memory.rank()]);
  }

  private void area(Svg svg, Memory memory, double top) {
    double height = scale.memoryHeight();
    double bottom = top + height;
    double peak = memory.peak();
    double full = isLimited(memory) ? Math.max(capacities[memory.rank()], peak) : peak;
    double perByte = full > 0 ? (height - 2) / full : 0; // a rim, so that a full line shows
    double width = scale.right() - scale.left();
    svg.rect(scale.left(), top, width, height, "fill=\"#F6F7F8\"");
    svg.path(outline(memory, bottom, perByte), "fill=\"" + HELD + '"');
    double fixed = memory.staticBytes() * perByte;
    svg.rect(scale.left(), bottom - fixed, width, fixed, "fill=\"" + STATIC + '"');
    if (isLimited(memory)) {
      double line = bottom - capacities[memory.rank()] * perByte;
      svg.line(scale.left(), line, scale.right(), line, LIMIT);
    }
    label(svg, memory, top + height / 2 + 4, full);
  }

  private void label(Svg svg, Memory memory, double middle, double full) {
    String name = "stage " + memory.rank();
    boolean twoLines = scale.memoryHeight() >= 30;
    double first = twoLines ? middle - 7 : middle;
    svg.text(16, first, "font-size=\"12\" font-weight=\"600\" fill=\"#1A1D21\"", name);
    String used = Numbers.bytesIn(memory.peak(), full);
    if (isLimited(memory)) {
      String peak = used + " of " + Numbers.bytesIn(full, full) + " " + Numbers.byteUnit(full);
      String words = twoLines ? "peak " + peak : used + " " + Numbers.byteUnit(full);
      peak(svg, twoLines, middle, words);
    } else {
      peak(svg, twoLines, middle, (twoLines ? "peak " : "") + used + " " + Numbers.byteUnit(full));
    }
  }

  private void peak(Svg svg, boolean below, double middle, String words) {
    if (below) {
      svg.text(16, middle + 8, "font-size=\"11\" fill=\"#4A5058\"", words);
    } else {
      String style = "font-size=\"11\" text-anchor=\"end\" fill=\"#4A5058\"";
      svg.text(scale.left() - 8, middle, style, words);
    }
  }

  /** The steps as one shape; where several share a pixel, the highest of them counts. */
  private StringBuilder outline(Memory memory, double bottom, double perByte) {
    StringBuilder path = new StringBuilder();
    int steps = memory.seconds().length;
    if (steps == 0) {
      return path;
    }
    point(path.append('M'), scale.x(memory.seconds()[0]), bottom);
    for (int i = 0; i < steps; ) {
      double x = scale.x(memory.seconds()[i]);
      double highest = memory.bytes()[i];
      double last = highest;
      for (i++; i < steps && scale.x(memory.seconds()[i]) - x < 1; i++) {
        last = memory.bytes()[i];
        highest = Math.max(highest, last);
      }
      level(path, x, bottom - highest * perByte);
      if (last != highest) {
        level(path, x + 1, bottom - last * perByte);
      }
    }
    Numbers.appendShort(path.append('H'), scale.right());
    Numbers.appendShort(path.append('V'), bottom);
    return path.append('z');
  }

  private static void level(StringBuilder path, double x, double y) {
    Numbers.appendShort(path.append('H'), x);
    Numbers.appendShort(path.append('V'), y);
  }

  private static void point(StringBuilder path, double x, double y) {
    Numbers.appendShort(path, x);
    Numbers.appendShort(path.append(' '), y);
  }
}
