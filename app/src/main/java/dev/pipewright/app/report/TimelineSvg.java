package dev.pipewright.app.report;

import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.units.Units;
import java.util.List;

/**
 * A step as a picture of its own: a lane for each stage with thin lanes for its links, and below,
 * on the same axis, the memory of each stage.
 */
public final class TimelineSvg {
  private static final double WIDTH = 1200;
  private static final double RIGHT = 70; // idle shares
  private static final double HEAD = 92; // title and legend
  private static final double AXIS = 34;
  private static final double MEMORY_HEAD = 34;

  private final String title;
  private final Timeline timeline;
  private final List<Lane> lanes;
  private final SvgScale scale;
  private final SvgMemory memory;

  private TimelineSvg(String title, Timeline timeline, double[] capacities) {
    this.title = title;
    this.timeline = timeline;
    this.lanes = Lanes.inOrder(timeline);
    int stages = timeline.compute().size();
    this.scale = SvgScale.of(timeline.stepSeconds(), stages, WIDTH - RIGHT);
    this.memory = new SvgMemory(timeline, scale, capacities);
  }

  /** The picture's timeline with its devices' memory; empty text when there is no timeline. */
  public static String of(Picture picture) {
    return picture.timeline().isEmpty()
        ? ""
        : of(picture.title(), picture.timeline().get(), picture.capacities());
  }

  /** A timeline whose devices' memory is unknown or without limit. */
  public static String of(String title, Timeline timeline) {
    return of(title, timeline, new double[0]);
  }

  /**
   * A timeline as an SVG document.
   *
   * @param capacities bytes of a device of each stage; stages beyond its length have no limit
   */
  public static String of(String title, Timeline timeline, double[] capacities) {
    return new TimelineSvg(title, timeline, capacities).document();
  }

  private String document() {
    double bottom = HEAD + lanesHeight();
    double memoryTop = bottom + AXIS + MEMORY_HEAD;
    boolean remembers = !timeline.memory().isEmpty();
    double height = remembers ? memoryTop + memory.height() + AXIS : bottom + AXIS;
    Svg svg = new Svg(WIDTH, height + 12, title);
    head(svg);
    grid(svg, HEAD, bottom);
    lanes(svg);
    axis(svg, bottom);
    if (remembers) {
      memory.head(svg, memoryTop - 14);
      memory.areas(svg, memoryTop);
      grid(svg, memoryTop, memoryTop + memory.height());
      axis(svg, memoryTop + memory.height());
    }
    return svg.end();
  }

  private double lanesHeight() {
    double height = 0;
    for (Lane lane : lanes) {
      height +=
          lane instanceof Lane.Compute ? scale.laneHeight() + scale.gap() : scale.linkHeight();
    }
    return height;
  }

  private void head(Svg svg) {
    svg.text(
        16, 32, "font-size=\"18\" font-weight=\"600\" fill=\"#1A1D21\"", TextWidth.cut(title, 100));
    String step = "one step: " + Units.seconds(timeline.stepSeconds());
    svg.text(16, 52, "font-size=\"12\" fill=\"#4A5058\"", step);
    SvgLegend legend = new SvgLegend(svg, 16, 74);
    boolean[] kinds = Lanes.kinds(timeline);
    for (Look look : Look.values()) {
      if (kinds[look.ordinal()]) {
        legend.add(look.fill(0, 0), look.word);
      }
    }
    legend.add(SvgScale.IDLE, "idle");
    svg.text(WIDTH - 12, HEAD - 6, "font-size=\"11\" text-anchor=\"end\" fill=\"#4A5058\"", "idle");
  }

  private void lanes(Svg svg) {
    SvgLane drawing = new SvgLane(svg, scale, timeline.stepSeconds());
    boolean tips = Lanes.slices(timeline) <= 6_000;
    double y = HEAD;
    for (Lane lane : lanes) {
      if (lane instanceof Lane.Compute compute) {
        y += scale.gap();
        drawing.draw(lane, y, scale.laneHeight(), tips);
        label(svg, compute, y);
        y += scale.laneHeight();
      } else {
        drawing.draw(lane, y, scale.linkHeight() - 1, tips);
        y += scale.linkHeight();
      }
    }
  }

  private void label(Svg svg, Lane.Compute lane, double y) {
    double baseline = y + scale.laneHeight() / 2 + 4;
    String name = "stage " + lane.rank();
    svg.text(16, baseline, "font-size=\"12\" font-weight=\"600\" fill=\"#1A1D21\"", name);
    if (scale.laneHeight() >= 14 && !lane.devices().isEmpty()) {
      String style = "font-size=\"11\" text-anchor=\"end\" fill=\"#5A616A\"";
      svg.text(scale.left() - 8, baseline, style, devices(lane));
    }
    svg.text(
        WIDTH - 12,
        baseline,
        "font-size=\"11\" text-anchor=\"end\" fill=\"#4A5058\"",
        Units.percent(timeline.idleShare(lane.rank())));
  }

  private static String devices(Lane.Compute lane) {
    String devices = Words.devices(lane.devices(), 6);
    if (devices.endsWith("devices")) {
      return devices;
    }
    return (lane.devices().size() == 1 ? "device " : "devices ") + devices;
  }

  private void grid(Svg svg, double top, double bottom) {
    Ticks ticks = scale.ticks();
    svg.open("stroke=\"#000000\" stroke-opacity=\"0.12\"");
    for (int tick = 0; tick < ticks.count(); tick++) {
      double x = scale.x(ticks.at(tick));
      svg.line(x, top, x, bottom, "");
    }
    svg.close();
  }

  private void axis(Svg svg, double y) {
    Ticks ticks = scale.ticks();
    svg.line(scale.left(), y, scale.right(), y, "stroke=\"#7A828B\"");
    svg.open("font-size=\"11\" text-anchor=\"middle\" fill=\"#4A5058\"");
    for (int tick = 0; tick < ticks.count(); tick++) {
      double x = scale.x(ticks.at(tick));
      svg.line(x, y, x, y + 4, "stroke=\"#7A828B\"");
      svg.text(x, y + 17, "", ticks.label(tick) + " " + ticks.unit());
    }
    svg.close();
  }
}
