package dev.pipewright.app.report;

import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.Slice;
import dev.pipewright.units.Units;

/**
 * A timeline as compact JSON for the page's script. Times are whole parts of the step, {@value
 * #PARTS} of them, so that they are short and add up; each slice is four numbers: its kind, its
 * micro-batch, the gap since the slice before it, and its length.
 */
final class TimelineData {
  static final int PARTS = 100_000_000;

  private final Timeline timeline;
  private final StringBuilder out = new StringBuilder();

  private TimelineData(Timeline timeline) {
    this.timeline = timeline;
  }

  /** JSON that may stand in a {@code script} element. */
  static String of(Timeline timeline, double[] capacities) {
    return new TimelineData(timeline).json(capacities);
  }

  private String json(double[] capacities) {
    out.append("{\"step\":").append(timeline.stepSeconds());
    out.append(",\"parts\":").append(PARTS).append(",\"kinds\":[");
    for (Look look : Look.values()) {
      comma('[');
      Markup.quote(out, look.word);
    }
    out.append("],\"lanes\":[");
    for (Lane lane : Lanes.inOrder(timeline)) {
      comma('[');
      lane(lane);
    }
    out.append("],\"memory\":[");
    for (Memory memory : timeline.memory()) {
      comma('[');
      memory(memory, capacities);
    }
    return out.append("]}").toString();
  }

  private void comma(char opening) {
    if (out.charAt(out.length() - 1) != opening) {
      out.append(',');
    }
  }

  private void lane(Lane lane) {
    if (lane instanceof Lane.Link link) {
      out.append("{\"from\":").append(link.from()).append(",\"to\":").append(link.to());
    } else if (lane instanceof Lane.Compute compute) {
      out.append("{\"stage\":").append(compute.rank()).append(",\"devices\":");
      Markup.quote(out, Words.devices(compute.devices()));
    }
    out.append(",\"slices\":[");
    long before = 0;
    for (Slice slice : lane.slices()) {
      comma('[');
      long start = part(slice.start());
      long end = part(slice.end());
      out.append(Look.of(slice.kind()).ordinal()).append(',').append(slice.microBatch());
      out.append(',').append(start - before).append(',').append(end - start);
      before = end;
    }
    out.append("]}");
  }

  private void memory(Memory memory, double[] capacities) {
    out.append("{\"stage\":").append(memory.rank()).append(",\"fixed\":");
    Units.appendFixed(out, memory.staticBytes(), 0);
    if (memory.rank() < capacities.length && Figure.isLimited(capacities[memory.rank()])) {
      Units.appendFixed(out.append(",\"capacity\":"), capacities[memory.rank()], 0);
    }
    out.append(",\"steps\":["); // the time since the step before it, and bytes
    long before = 0;
    for (int i = 0; i < memory.seconds().length; i++) {
      comma('[');
      long start = part(memory.seconds()[i]);
      Units.appendFixed(out.append(start - before).append(','), memory.bytes()[i], 0);
      before = start;
    }
    out.append("]}");
  }

  private long part(double seconds) {
    return timeline.stepSeconds() > 0 ? Math.round(seconds / timeline.stepSeconds() * PARTS) : 0;
  }
}
