package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.page.Markup;
import dev.pipewright.units.Units;
import java.io.IOException;

/**
 * Writes the JSON trace event format that Perfetto and Chrome show, event by event, since long
 * traces are large. Times are seconds; files have microseconds with three digits.
 *
 * <p>Perfetto counts whole nanoseconds and drops slices that begin before the slice before them on
 * their track has ended. So starts and ends are rounded to nanoseconds, and a duration is the
 * difference of two rounded times: slices that touch in seconds touch in the file.
 */
final class TraceEvents {
  private static final double NANOS = 1e9;

  /** A thread of a process, a line of the picture. */
  record Track(int process, int thread) {}

  private final Appendable out;
  private final StringBuilder event = new StringBuilder();
  private boolean first = true;

  private TraceEvents(Appendable out) {
    this.out = out;
  }

  /** Begins a trace, which {@link #end} completes. */
  static TraceEvents begin(String title, Appendable out) throws IOException {
    StringBuilder head = new StringBuilder("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":");
    Markup.quote(head, title);
    out.append(head.append("},\"traceEvents\":[\n"));
    return new TraceEvents(out);
  }

  void end() throws IOException {
    out.append("\n]}\n");
  }

  void process(int process, String name) throws IOException {
    named("process_name", new Track(process, 0), name);
    sorted("process_sort_index", new Track(process, 0), process);
  }

  void thread(Track track, String name) throws IOException {
    named("thread_name", track, name);
    sorted("thread_sort_index", track, track.thread());
  }

  private void named(String what, Track track, String name) throws IOException {
    start('M', track);
    event.append(",\"name\":\"").append(what).append("\",\"args\":{\"name\":");
    Markup.quote(event, name);
    event.append('}');
    finish();
  }

  private void sorted(String what, Track track, int index) throws IOException {
    start('M', track);
    event.append(",\"name\":\"").append(what).append("\",\"args\":{\"sort_index\":").append(index);
    event.append('}');
    finish();
  }

  /**
   * A slice of a track.
   *
   * @param start seconds, as {@code end}
   * @param arguments members of a JSON object
   */
  void slice(Track track, double start, double end, String category, String name, String arguments)
      throws IOException {
    start('X', track);
    time(start);
    micros(event.append(",\"dur\":"), nanos(end) - nanos(start));
    event.append(",\"cat\":\"").append(category).append("\",\"name\":\"").append(name);
    event.append("\",\"args\":{").append(arguments).append('}');
    finish();
  }

  /** Where an arrow leaves: within a slice of the track. */
  void leave(Track track, double seconds, String name, int id) throws IOException {
    arrow('s', track, seconds, name, id);
  }

  /** Where the arrow with the same number arrives: within a slice of the track, or at its start. */
  void arrive(Track track, double seconds, String name, int id) throws IOException {
    arrow('f', track, seconds, name, id);
  }

  private void arrow(char phase, Track track, double seconds, String name, int id)
      throws IOException {
    start(phase, track);
    time(seconds);
    event.append(",\"cat\":\"transfer\",\"name\":\"").append(name).append("\",\"id\":").append(id);
    event.append(phase == 'f' ? ",\"bp\":\"e\"" : "");
    finish();
  }

  /** The value of a process's counter from a time on. */
  void counter(int process, double seconds, String name, String what, double value)
      throws IOException {
    start('C', new Track(process, 0));
    time(seconds);
    event.append(",\"name\":\"").append(name).append("\",\"args\":{\"").append(what).append("\":");
    Units.appendFixed(event, value, value == Math.rint(value) ? 0 : 3);
    event.append('}');
    finish();
  }

  private void start(char phase, Track track) {
    event.setLength(0);
    event.append(first ? "" : ",\n").append("{\"ph\":\"").append(phase);
    event.append("\",\"pid\":").append(track.process()).append(",\"tid\":").append(track.thread());
    first = false;
  }

  private void time(double seconds) {
    long nanos = nanos(seconds);
    micros(event.append(",\"ts\":"), nanos);
    if ((long) (nanos / 1e3 * 1e3) < nanos) {
      event.append('1'); // readers that cut nanoseconds off would have one less
    }
  }

  private static long nanos(double seconds) {
    return Math.round(seconds * NANOS);
  }

  private static void micros(StringBuilder text, long nanos) {
    text.append(nanos / 1000);
    String digits = Long.toString(1000 + nanos % 1000);
    text.append('.').append(digits, 1, digits.length());
  }

  private void finish() throws IOException {
    out.append(event.append('}'));
  }
}
