package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.chart.Look;
import dev.pipewright.app.report.page.Markup;
import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.schedule.Placement;
import dev.pipewright.trace.Timeline.Flow;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.Slice;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Runs as compact JSON for the page's script. Times are whole parts of the longest run, {@value
 * #PARTS} of them, so that they are short and add up; each slice is four numbers: its kind and how
 * it is drawn, see {@link #code}; its micro-batch; the gap since the slice before it; and its
 * length.
 */
public final class TimelineData {
  static final int PARTS = 100_000_000;

  private final Runs runs;
  private final double whole;
  private final StringBuilder out = new StringBuilder();

  private TimelineData(Runs runs) {
    this.runs = runs;
    this.whole = runs.makespan();
  }

  /** JSON that may stand in a {@code script} element. */
  public static String of(Runs runs) {
    return new TimelineData(runs).json();
  }

  private String json() {
    boolean bytes = runs.first().inBytes();
    out.append("{\"step\":").append(whole).append(",\"parts\":").append(PARTS);
    Markup.quote(out.append(",\"whole\":"), runs.whole());
    out.append(",\"seconds\":").append(runs.clock() == TimeNotation.SECONDS);
    out.append(",\"bytes\":").append(bytes);
    Markup.quote(out.append(",\"memory\":"), runs.memory());
    Markup.quote(out.append(",\"shades\":"), runs.shades());
    out.append(",\"most\":").append(SvgScale.of(runs).most());
    out.append(",\"kinds\":[");
    for (Look look : Look.values()) {
      comma('[');
      Markup.quote(out.append("{\"word\":"), look.word);
      String style = look.name().toLowerCase(Locale.ROOT).replace('_', '-');
      out.append(",\"style\":\"").append(style);
      out.append("\",\"numbered\":").append(look.numbered());
      out.append(",\"exchanges\":").append(look.exchanges()).append('}');
    }
    out.append("],\"runs\":[");
    for (Shown run : runs.all()) {
      comma('[');
      run(run);
    }
    return out.append("]}").toString();
  }

  private void comma(char opening) {
    if (out.charAt(out.length() - 1) != opening) {
      out.append(',');
    }
  }

  private void run(Shown run) {
    Placement placement = run.timeline().placement();
    SliceNumbers numbering = run.numbering();
    Markup.quote(out.append("{\"name\":"), run.name());
    out.append(",\"step\":").append(run.makespan());
    out.append(",\"depth\":").append(placement.depth());
    out.append(",\"chains\":").append(placement.chains());
    out.append(",\"bothWays\":").append(numbering.bothWays());
    out.append(",\"ofStages\":").append(numbering.ofStages());
    out.append(",\"mostShade\":").append(numbering.mostShade());
    out.append(",\"shades\":[");
    for (int stage = 0; stage < placement.stages(); stage++) {
      comma('[');
      out.append(numbering.shade(stage));
    }
    out.append("],\"lanes\":[");
    for (Lane lane : run.timeline().lanes()) {
      comma('[');
      lane(run, lane);
    }
    out.append("],\"arrows\":[");
    for (Flow flow : run.arrows()) {
      comma('[');
      arrow(flow, run.target(flow));
    }
    out.append("],\"memory\":[");
    List<Lane.Compute> ranks = run.ranks();
    for (Memory memory : run.timeline().memory()) {
      comma('[');
      memory(memory, Lanes.name(run.timeline(), ranks.get(memory.rank())));
    }
    out.append("]}");
  }

  private void lane(Shown run, Lane lane) {
    if (lane instanceof Lane.Link link) {
      Markup.quote(
          out.append("{\"name\":"),
          Lanes.word(run.timeline()) + " " + link.from() + " → " + link.to());
    } else if (lane instanceof Lane.Compute rank) {
      out.append("{\"rank\":").append(rank.rank());
      Markup.quote(out.append(",\"name\":"), Lanes.name(run.timeline(), rank));
      String note =
          rank.devices().isEmpty()
              ? "idle " + Units.percent(run.timeline().idleShare(rank.rank()))
              : Words.devices(rank.devices());
      Markup.quote(out.append(",\"note\":"), note);
    }
    List<Integer> stages = stages(lane);
    out.append(",\"stages\":").append(stages).append(",\"slices\":[");
    long before = 0;
    for (Packed packed : packed(lane.slices(), stages)) {
      comma('[');
      long start = part(packed.slice().start());
      long end = part(packed.slice().end());
      out.append(packed.code()).append(',').append(packed.slice().microBatch());
      out.append(',').append(start - before).append(',').append(end - start);
      before = end;
    }
    out.append("]}");
  }

  private static List<Integer> stages(Lane lane) {
    List<Integer> stages = new ArrayList<>();
    for (Slice slice : lane.slices()) {
      if (stages.isEmpty() || (slice.stage() != stages.get(0) && !stages.contains(slice.stage()))) {
        stages.add(slice.stage());
      }
    }
    return stages;
  }

  /** A slice and its first number, see {@link #code}. */
  private record Packed(Slice slice, int code) {}

  /** By their start: exchanges may start later than the op that follows them in the program. */
  private static List<Packed> packed(List<Slice> slices, List<Integer> stages) {
    List<Packed> all = new ArrayList<>(slices.size());
    boolean sorted = true;
    for (int first = 0; first < slices.size(); ) {
      int end = Lanes.end(slices, first);
      for (int i = first; i < end; i++) {
        Slice slice = slices.get(i);
        boolean foot = slice.kind().exchanges() && Lanes.overlaps(slices, i);
        int stage = stages.indexOf(slice.stage());
        all.add(new Packed(slice, code(slice, foot, i - first, end - first, stage)));
        sorted &= i == 0 || slice.start() >= slices.get(i - 1).start();
      }
      first = end;
    }
    if (!sorted) {
      all.sort(Comparator.comparingDouble(each -> each.slice().start()));
    }
    return all;
  }

  /**
   * Sixteen kinds; whether it is at the foot of its row; which part of the row it takes of how
   * many, eight at most; and which of the lane's stages it is of.
   */
  private static int code(Slice slice, boolean foot, int part, int parts, int stage) {
    int height = Math.min(7, part) + 8 * (Math.min(8, parts) - 1);
    return Look.of(slice.kind()).number + (foot ? 16 : 0) + 32 * height + 2048 * stage;
  }

  /** From rank, to rank, start, end. */
  private void arrow(Flow flow, Slice slice) {
    out.append('[').append(flow.from()).append(',').append(flow.to());
    out.append(',').append(part(slice.start())).append(',').append(part(slice.end())).append(']');
  }

  private void memory(Memory memory, String name) {
    Markup.quote(out.append("{\"name\":"), name);
    out.append(",\"fixed\":");
    amount(memory.staticBytes());
    if (Figure.isLimited(memory.capacity())) {
      out.append(",\"capacity\":");
      amount(memory.capacity());
    }
    out.append(",\"steps\":["); // the time since the step before it, and what is held
    long before = 0;
    for (int i = 0; i < memory.seconds().length; i++) {
      comma('[');
      long start = part(memory.seconds()[i]);
      out.append(start - before).append(',');
      amount(memory.bytes()[i]);
      before = start;
    }
    out.append("]}");
  }

  private void amount(double value) {
    Units.appendFixed(out, value, runs.first().inBytes() || value == Math.rint(value) ? 0 : 4);
  }

  private long part(double seconds) {
    return whole > 0 ? Math.round(seconds / whole * PARTS) : 0;
  }
}
