package dev.pipewright.app.report;

import dev.pipewright.schedule.Placement;
import dev.pipewright.trace.Timeline.Content;
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
 * #PARTS} of them, so that they are short and add up; each slice is four numbers: its kind, and 16
 * times the position of its stage among the lane's; its micro-batch; the gap since the slice before
 * it; and its length.
 */
final class TimelineData {
  static final int PARTS = 100_000_000;
  private static final int KINDS = 16;
  private static final int MOST_ARROWS = 100;

  private final Runs runs;
  private final double whole;
  private final StringBuilder out = new StringBuilder();

  private TimelineData(Runs runs) {
    this.runs = runs;
    this.whole = runs.makespan();
  }

  /** JSON that may stand in a {@code script} element. */
  static String of(Runs runs) {
    return new TimelineData(runs).json();
  }

  private String json() {
    boolean bytes = runs.first().inBytes();
    out.append("{\"step\":").append(whole).append(",\"parts\":").append(PARTS);
    out.append(",\"seconds\":").append(runs.clock() == Clock.SECONDS);
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
    Numbering numbering = run.numbering();
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
    for (Lane lane : Lanes.inOrder(run.timeline())) {
      comma('[');
      lane(run, lane);
    }
    out.append("],\"arrows\":[");
    arrows(run);
    out.append("],\"memory\":[");
    List<Lane.Compute> ranks = run.ranks();
    for (Memory memory : run.timeline().memory()) {
      comma('[');
      memory(memory, Lanes.name(ranks.get(memory.rank())));
    }
    out.append("]}");
  }

  private void lane(Shown run, Lane lane) {
    if (lane instanceof Lane.Link link) {
      Markup.quote(out.append("{\"name\":"), "stage " + link.from() + " → " + link.to());
    } else if (lane instanceof Lane.Compute rank) {
      out.append("{\"rank\":").append(rank.rank());
      Markup.quote(out.append(",\"name\":"), Lanes.name(rank));
      String note =
          rank.devices().isEmpty()
              ? "idle " + Units.percent(run.timeline().idleShare(rank.rank()))
              : Words.devices(rank.devices());
      Markup.quote(out.append(",\"note\":"), note);
    }
    List<Slice> slices = inOrder(lane.slices());
    List<Integer> stages = new ArrayList<>();
    for (Slice slice : slices) {
      if (stages.isEmpty() || (slice.stage() != stages.get(0) && !stages.contains(slice.stage()))) {
        stages.add(slice.stage());
      }
    }
    out.append(",\"stages\":").append(stages).append(",\"slices\":[");
    long before = 0;
    for (Slice slice : slices) {
      comma('[');
      long start = part(slice.start());
      long end = part(slice.end());
      out.append(Look.of(slice.kind()).ordinal() + KINDS * stages.indexOf(slice.stage()));
      out.append(',').append(slice.microBatch());
      out.append(',').append(start - before).append(',').append(end - start);
      before = end;
    }
    out.append("]}");
  }

  /** By their start: exchanges may start later than the op that follows them in the program. */
  private static List<Slice> inOrder(List<Slice> slices) {
    for (int i = 1; i < slices.size(); i++) {
      if (slices.get(i).start() < slices.get(i - 1).start()) {
        List<Slice> sorted = new ArrayList<>(slices);
        sorted.sort(Comparator.comparingDouble(Slice::start));
        return sorted;
      }
    }
    return slices;
  }

  /** Where states arrive, if they are few: from rank, to rank, start, end. */
  private void arrows(Shown run) {
    List<Flow> received = new ArrayList<>();
    for (Flow flow : run.timeline().flows()) {
      if (flow.content() == Content.STATE) {
        received.add(flow);
      }
    }
    if (received.size() > MOST_ARROWS) {
      return;
    }
    for (Flow flow : received) {
      Slice slice = run.ranks().get(flow.to()).slices().get(flow.toSlice());
      comma('[');
      out.append('[').append(flow.from()).append(',').append(flow.to());
      out.append(',').append(part(slice.start())).append(',').append(part(slice.end()));
      out.append(']');
    }
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
