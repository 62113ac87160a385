package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.chart.Look;
import dev.pipewright.app.report.chart.Svg;
import dev.pipewright.app.report.chart.Ticks;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.trace.Timeline.Flow;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.Slice;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/**
 * One run: a row for each rank, a cell for each op with its number in it, the later stages of a
 * rank in lighter shades, ops that run together above each other; exchanges that overlap them at
 * the row's foot, and thin rows for links. Where cells would be thinner than two pixels, a row
 * shows for every two pixels how much of that time each kind of work takes. Below, on the same
 * axis, what each rank holds.
 */
final class SvgRun {
  private static final double AXIS = 30;
  private static final double HEAD = 24;
  private static final double BETWEEN = 20;
  private static final double GAP = 3; // between strips
  private static final double BIN = 2;
  private static final double LEAST = 2; // an exchange that takes no time is seen
  private static final double APART = 0.6; // exchanges one after the other
  private static final String SMALL = "font-size=\"11\" class=\"soft\"";
  private static final String SMALL_END = SMALL + " text-anchor=\"end\"";
  private static final String NAME = "font-size=\"12\" font-weight=\"600\" class=\"ink\"";

  private final Svg svg;
  private final Shown run;
  private final SvgScale scale;
  private final Runs runs;
  private final SliceNumbers numbering;
  private final double right;
  private final double usual; // pixels of an op
  private final String word; // what a lane is

  SvgRun(Svg svg, Shown run, SvgScale scale, Runs runs) {
    this.svg = svg;
    this.run = run;
    this.scale = scale;
    this.runs = runs;
    this.numbering = run.numbering();
    this.right = scale.x(run.makespan());
    this.usual = scale.pixels(run.usual());
    this.word = Lanes.word(run.timeline());
  }

  static double height(Shown run, SvgScale scale) {
    double strips = run.timeline().memory().size() * (scale.strip() + GAP);
    double memory = strips == 0 ? 0 : HEAD + strips + AXIS;
    return HEAD + rows(run, scale) + AXIS + memory + BETWEEN;
  }

  private static double rows(Shown run, SvgScale scale) {
    double height = 0;
    for (Lane lane : run.timeline().lanes()) {
      height += height(lane, scale);
    }
    return height;
  }

  private static double height(Lane lane, SvgScale scale) {
    return lane instanceof Lane.Compute ? scale.row() + scale.foot() : scale.link();
  }

  /** Draws it below {@code top}, headed by its name where it is one of several. */
  void draw(double top) {
    List<Lane> lanes = run.timeline().lanes();
    double first = top + HEAD;
    heading(first, runs.areSeveral() ? run.name() : "", "idle");
    double y = first;
    double[] rows = new double[run.timeline().placement().ranks()];
    for (Lane lane : lanes) {
      double gap = lane instanceof Lane.Compute ? 2 : 1;
      double height = (lane instanceof Lane.Compute ? scale.row() : scale.link()) - gap;
      svg.rect(scale.left(), y + gap / 2, right - scale.left(), height, "class=\"plot\"");
      if (lane instanceof Lane.Compute compute) {
        rows[compute.rank()] = y;
      }
      y += height(lane, scale);
    }
    arrows(rows); // below the cells, whose numbers they would cross
    y = first;
    for (Lane lane : lanes) {
      if (lane instanceof Lane.Compute rank) {
        double baseline = y + scale.row() / 2 + 4;
        name(rank, baseline);
        cells(rank, y + 1, scale.row() - 2);
        value(Units.percent(run.timeline().idleShare(rank.rank())), baseline);
      } else {
        cells(lane, y + 0.5, scale.link() - 1);
      }
      y += height(lane, scale);
    }
    axis(y);
    if (!run.timeline().memory().isEmpty()) {
      memory(y + AXIS + HEAD);
    }
  }

  private void heading(double bottom, String head, String column) {
    svg.text(scale.left(), bottom - 8, "font-size=\"13\" font-weight=\"600\" class=\"ink\"", head);
    value(column, bottom - 8);
  }

  private void name(Lane.Compute lane, double baseline) {
    svg.text(SvgScale.EDGE, baseline, NAME, Lanes.name(run.timeline(), lane));
    if (!lane.devices().isEmpty()) {
      String devices = Words.devices(lane.devices(), 6);
      String word = lane.devices().size() == 1 ? "device " : "devices ";
      String words = devices.endsWith("devices") ? devices : word + devices;
      svg.text(scale.left() - 8, baseline, SMALL_END, words);
    }
  }

  private void value(String words, double baseline) {
    svg.text(scale.width() - 8, baseline, SMALL_END, words);
  }

  private void cells(Lane lane, double top, double height) {
    List<Slice> slices = lane.slices();
    if (slices.size() * BIN > scale.plot() && usual < BIN) {
      shares(lane, top, height);
      return;
    }
    svg.open(usual >= 3 ? "class=\"cells\"" : "class=\"fine\"");
    List<Integer> exchanges = new ArrayList<>();
    for (int first = 0; first < slices.size(); ) {
      int end = Lanes.end(slices, first);
      double part = height / (end - first);
      for (int i = first; i < end; i++) {
        if (slices.get(i).kind().exchanges()) {
          exchanges.add(i);
        } else {
          cell(slices.get(i), lane, top + (i - first) * part, part);
        }
      }
      first = end;
    }
    svg.close();
    for (int i : exchanges) {
      exchange(lane, i, top, height);
    }
  }

  private void cell(Slice slice, Lane lane, double top, double height) {
    Look look = Look.of(slice.kind());
    int shade = numbering.shade(slice);
    int most = look.numbered() ? numbering.mostShade() : 0;
    double left = scale.x(slice.start());
    double wide = scale.x(slice.end()) - left;
    svg.rect(left, top, wide, height, style(look, shade), tip(slice, lane));
    String number = slice.microBatch() < 0 ? "" : Integer.toString(numbering.number(slice));
    if (look.numbered() && !number.isEmpty() && wide >= 6.2 * number.length() + 1.5) {
      String words =
          "font-size=\"%d\" text-anchor=\"middle\" class=\"%s\""
              .formatted(height < 11 ? 8 : 10, look.isLight(shade, most) ? "black" : "white");
      svg.text(left + wide / 2, top + height / 2 + (height < 11 ? 2.9 : 3.6), words, number);
    }
  }

  private String style(Look look, int shade) {
    return "class=\"" + RunLegend.style(look, shade, numbering.mostShade()) + '"';
  }

  /** One that overlaps nothing is in line with the ops; others are at the row's foot. */
  private void exchange(Lane lane, int position, double top, double height) {
    Slice slice = lane.slices().get(position);
    Look look = Look.of(slice.kind());
    if (slice.seconds() > 0 && !Lanes.overlaps(lane.slices(), position)) {
      double left = scale.x(slice.start());
      svg.rect(left, top, scale.x(slice.end()) - left, height, style(look, 0), tip(slice, lane));
    } else if (slice.seconds() > 0 || look == Look.HAND_ON) {
      double left = Math.min(scale.x(slice.start()), scale.right() - LEAST);
      double wide = Math.max(LEAST, scale.x(slice.end()) - left - APART);
      double foot = Math.max(LEAST, scale.foot() - 3);
      svg.rect(left, top + height + 1, wide, foot, style(look, 0), tip(slice, lane));
    }
  }

  /** {@code F3: forward of stage 0, rank 0: 12 to 13}. */
  private String tip(Slice slice, Lane lane) {
    Look look = Look.of(slice.kind());
    StringBuilder tip = new StringBuilder();
    if (slice.microBatch() >= 0) {
      tip.append(look.letter).append(slice.microBatch()).append(": ");
    }
    tip.append(look.word);
    if (lane instanceof Lane.Link link) {
      tip.append(" from ")
          .append(word)
          .append(' ')
          .append(link.from())
          .append(" to ")
          .append(link.to());
    } else if (lane instanceof Lane.Compute rank) {
      tip.append(' ').append(numbering.where(slice));
      tip.append(word.equals("stage") ? "" : ", " + word + " " + rank.rank());
    }
    return tip.append(": ")
        .append(runs.clock().span(slice.start(), slice.end(), runs.makespan()))
        .toString();
  }

  /** Stacked in whole pixels, so that no seams show. */
  private void shares(Lane lane, double top, double height) {
    int bins = (int) ((right - scale.left()) / BIN);
    double[][] shares = Lanes.shares(lane, run.makespan(), bins);
    int[] floor = new int[bins]; // whole pixels that lower kinds have filled
    double[] filled = new double[bins];
    for (Look look : Look.values()) {
      StringBuilder path = new StringBuilder();
      int[] ceiling = new int[bins];
      for (int bin = 0; bin < bins; bin++) {
        filled[bin] = Math.min(1, filled[bin] + shares[look.number][bin]);
        ceiling[bin] = (int) Math.round(filled[bin] * height);
      }
      for (int from = 0; from < bins; ) {
        int to = from + 1;
        while (to < bins && floor[to] == floor[from] && ceiling[to] == ceiling[from]) {
          to++;
        }
        if (ceiling[from] > floor[from]) {
          double width = (to - from) * BIN;
          point(path.append('M'), scale.left() + from * BIN, top + height - ceiling[from]);
          Numbers.appendShort(path.append('h'), width);
          Numbers.appendShort(path.append('v'), ceiling[from] - floor[from]);
          Numbers.appendShort(path.append('h'), -width);
          path.append('z');
        }
        from = to;
      }
      floor = ceiling;
      svg.path(path, style(look, 0));
    }
  }

  /** From the row of the rank before to that of the rank that receives. */
  private void arrows(double[] rows) {
    if (run.arrows().isEmpty()) {
      return;
    }
    double middle = scale.row() + scale.foot() / 2;
    svg.open("class=\"arrow\"");
    for (Flow flow : run.arrows()) {
      Slice slice = run.target(flow);
      double from = rows[flow.from()] + middle;
      arrow(scale.x(slice.start()), from, scale.x(slice.end()), rows[flow.to()] + middle);
    }
    svg.close();
  }

  private void arrow(double x1, double y1, double x2, double y2) {
    svg.line(x1, y1, x2, y2, "");
    double length = Math.hypot(x2 - x1, y2 - y1);
    double alongX = 5 * (x2 - x1) / length;
    double alongY = 5 * (y2 - y1) / length;
    StringBuilder head = new StringBuilder();
    point(head.append('M'), x2, y2);
    point(head.append('L'), x2 - alongX - alongY / 2, y2 - alongY + alongX / 2);
    point(head.append('L'), x2 - alongX + alongY / 2, y2 - alongY - alongX / 2);
    svg.path(head.append('Z'), "class=\"head\"");
  }

  private void memory(double top) {
    heading(top, runs.memory() + runs.held(run, scale), "peak");
    List<Lane.Compute> ranks = run.ranks();
    double floor = top + scale.strip();
    double wide = right - scale.left();
    for (Memory memory : run.timeline().memory()) {
      double middle = floor - scale.strip() / 2 + 4;
      svg.text(SvgScale.EDGE, middle, NAME, Lanes.name(run.timeline(), ranks.get(memory.rank())));
      svg.rect(scale.left(), floor - scale.strip(), wide, scale.strip(), "class=\"plot\"");
      svg.path(area(memory, floor), "class=\"held\"");
      if (memory.staticBytes() > 0) {
        double fixed = memory.staticBytes() * each();
        svg.rect(scale.left(), floor - fixed, wide, fixed, "class=\"fixed\"");
      }
      svg.line(scale.left(), floor, right, floor, "class=\"axis\"");
      if (scale.shows(memory.capacity())) {
        double line = floor - memory.capacity() * each();
        svg.line(scale.left(), line, right, line, "class=\"limit\"");
      }
      value((Shown.exceeds(memory) ? "! " : "") + run.amount(memory.peak()), middle);
      floor += scale.strip() + GAP;
    }
    grid(top, floor - scale.strip());
    axis(floor - scale.strip());
  }

  private void grid(double top, double bottom) {
    Ticks ticks = ticks();
    svg.open("class=\"grid\"");
    for (int tick = 1; tick < ticks.count(); tick++) {
      double x = scale.x(ticks.at(tick));
      svg.line(x, top, x, bottom, "");
    }
    svg.close();
  }

  private Ticks ticks() {
    return Ticks.of(scale.makespan(), (int) Math.max(3, scale.plot() / 90));
  }

  /** Pixels of what is held. */
  private double each() {
    return scale.most() > 0 ? scale.strip() / scale.most() : 0;
  }

  /** The steps as one shape; where several share a pixel, the highest of them counts. */
  private StringBuilder area(Memory memory, double floor) {
    StringBuilder path = new StringBuilder();
    point(path.append('M'), scale.left(), floor);
    double[] seconds = memory.seconds();
    double before = floor;
    for (int i = 0; i < seconds.length; ) {
      double x = scale.x(seconds[i]);
      double last = memory.bytes()[i];
      double highest = last;
      for (i++; i < seconds.length && scale.x(seconds[i]) - x < 0.1; i++) {
        last = memory.bytes()[i];
        highest = Math.max(highest, last);
      }
      point(path.append('L'), x, before);
      point(path.append('L'), x, floor - highest * each());
      before = floor - last * each();
    }
    point(path.append('L'), right, before);
    point(path.append('L'), right, floor);
    return path.append('Z');
  }

  private static void point(StringBuilder path, double x, double y) {
    Numbers.appendShort(path, x);
    path.append(' ');
    Numbers.appendShort(path, y);
  }

  private void axis(double y) {
    svg.text(SvgScale.EDGE, y + 17, SMALL, "time");
    svg.line(scale.left(), y, scale.right(), y, "class=\"axis\"");
    Ticks ticks = ticks();
    for (int tick = 0; tick < ticks.count(); tick++) {
      double x = scale.x(ticks.at(tick));
      svg.line(x, y, x, y + 4, "class=\"axis\"");
      String words = runs.clock().label(ticks, tick);
      svg.text(x, y + 17, SMALL + (tick == 0 ? "" : " text-anchor=\"middle\""), words);
    }
  }
}
