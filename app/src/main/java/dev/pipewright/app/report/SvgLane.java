package dev.pipewright.app.report;

import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Slice;
import dev.pipewright.units.Units;
import java.util.List;

/**
 * Draws the slices of a lane: one rectangle each or, where they would be thinner than two pixels on
 * average, for every two pixels how much of that time each kind of work takes.
 */
final class SvgLane {
  private static final double BIN = 2;
  private static final double DIGIT = 6.6; // the widest digit of the numbers in slices
  private static final Look[] LOOKS = Look.values();

  private final Svg svg;
  private final SvgScale scale;
  private final double stepSeconds;
  private final String unit;

  SvgLane(Svg svg, SvgScale scale, double stepSeconds) {
    this.svg = svg;
    this.scale = scale;
    this.stepSeconds = stepSeconds;
    this.unit = scale.ticks().unit();
  }

  void draw(Lane lane, double y, double height, boolean tips) {
    double width = scale.right() - scale.left();
    svg.rect(scale.left(), y, width, height, "fill=\"" + SvgScale.IDLE + "\"");
    if (lane.slices().size() * BIN > width) {
      shares(lane, y, height);
      return;
    }
    svg.open(rim(lane));
    double busy = 0; // when the passes so far are over
    for (Slice slice : lane.slices()) {
      boolean beside = slice.kind().exchanges() && slice.start() < busy - 1e-12;
      double share = beside ? 0.35 : 1; // what runs beside a pass takes the lane's lower edge
      slice(slice, lane, y + height * (1 - share), height * share, tips);
      busy = !slice.kind().exchanges() ? Math.max(busy, slice.end()) : busy;
    }
    svg.close();
    if (height >= 14) {
      numbers(lane.slices(), y + height / 2 + 4);
    }
  }

  /** A white rim parts slices; thin ones need all of their width. */
  private String rim(Lane lane) {
    double busy = 0;
    for (Slice slice : lane.slices()) {
      busy += scale.x(slice.end()) - scale.x(slice.start());
    }
    double average = busy / Math.max(1, lane.slices().size());
    return average < 3
        ? "stroke=\"none\""
        : "stroke=\"#FFFFFF\" stroke-width=\"" + (average < 8 ? "0.4" : "0.8") + '"';
  }

  private void slice(Slice slice, Lane lane, double y, double height, boolean tips) {
    double x = scale.x(slice.start());
    double width = Math.max(0.4, scale.x(slice.end()) - x);
    String paint = "fill=\"" + Look.of(slice.kind()).fill(0, 0) + '"';
    if (tips) {
      svg.rect(x, y, width, height, paint, tip(slice, lane));
    } else {
      svg.rect(x, y, width, height, paint);
    }
  }

  /** {@code forward 3 on stage 0: 12.30 to 24.60 ms}. */
  private String tip(Slice slice, Lane lane) {
    StringBuilder tip = new StringBuilder(Look.of(slice.kind()).word);
    if (slice.microBatch() >= 0) {
      tip.append(' ').append(slice.microBatch());
    }
    if (lane instanceof Lane.Link link) {
      tip.append(" from stage ").append(link.from()).append(" to ").append(link.to());
    } else {
      tip.append(" on stage ").append(slice.stage());
    }
    double perSecond = Ticks.scale(unit);
    Units.appendFixed(tip.append(": "), slice.start() * perSecond, 3);
    Units.appendFixed(tip.append(" to "), slice.end() * perSecond, 3);
    return tip.append(' ').append(unit).toString();
  }

  private void numbers(List<Slice> slices, double baseline) {
    for (Kind kind : new Kind[] {Kind.FORWARD, Kind.BACKWARD}) {
      svg.open(
          "font-size=\"11\" text-anchor=\"middle\" fill=\""
              + (Look.of(kind).isLight(0, 0) ? "#000000" : "#FFFFFF")
              + '"');
      for (Slice slice : slices) {
        String number = Integer.toString(slice.microBatch());
        double from = scale.x(slice.start());
        double to = scale.x(slice.end());
        if (slice.kind() == kind
            && slice.microBatch() >= 0
            && to - from >= number.length() * DIGIT + 3) {
          svg.text((from + to) / 2, baseline, "", number);
        }
      }
      svg.close();
    }
  }

  private void shares(Lane lane, double top, double height) {
    int bins = (int) ((scale.right() - scale.left()) / BIN);
    double[][] shares = Lanes.shares(lane, stepSeconds, bins);
    int[] floor = new int[bins]; // whole pixels that lower kinds have filled
    double[] filled = new double[bins];
    for (int kind = 0; kind < shares.length; kind++) {
      StringBuilder path = new StringBuilder();
      int[] ceiling = new int[bins];
      for (int bin = 0; bin < bins; bin++) {
        filled[bin] = Math.min(1, filled[bin] + shares[kind][bin]);
        ceiling[bin] = (int) Math.round(filled[bin] * height);
      }
      for (int from = 0; from < bins; ) {
        int to = from + 1;
        while (to < bins && floor[to] == floor[from] && ceiling[to] == ceiling[from]) {
          to++;
        }
        if (ceiling[from] > floor[from]) {
          box(path, from, to, top + height - ceiling[from], ceiling[from] - floor[from]);
        }
        from = to;
      }
      floor = ceiling;
      svg.path(path, "fill=\"" + LOOKS[kind].fill(0, 0) + '"');
    }
  }

  private void box(StringBuilder path, int from, int to, double y, double height) {
    Numbers.appendShort(path.append('M'), scale.left() + from * BIN);
    Numbers.appendShort(path.append(' '), y);
    Numbers.appendShort(path.append('h'), (to - from) * BIN);
    Numbers.appendShort(path.append('v'), height);
    Numbers.appendShort(path.append('h'), -(to - from) * BIN);
    path.append('z');
  }
}
