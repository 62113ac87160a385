package dev.pipewright.runtime.training;

import dev.pipewright.runtime.engine.StepReport;
import dev.pipewright.runtime.launch.Reporter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * A worker's reports of its run, in order. Reports of short steps leave together: each message
 * wakes up the coordinator, which computes where workers do.
 */
final class Reporting implements AutoCloseable {
  private static final long PERIOD = 200_000_000; // nanoseconds

  private final Reporter reporter;
  private final LongSupplier clock;
  private final List<StepReport> waiting = new ArrayList<>();
  private long next; // from when on reports leave

  Reporting(Reporter reporter) {
    this(reporter, System::nanoTime);
  }

  /**
   * @param clock nanoseconds
   */
  Reporting(Reporter reporter, LongSupplier clock) {
    this.reporter = reporter;
    this.clock = clock;
    this.next = clock.getAsLong();
  }

  void stepped(StepReport report) {
    waiting.add(report);
    if (clock.getAsLong() - next >= 0) {
      flush();
    }
  }

  void event(String text) {
    flush();
    reporter.event(text);
  }

  String ask(String question) {
    flush();
    return reporter.ask(question);
  }

  private void flush() {
    if (!waiting.isEmpty()) {
      reporter.event(Reports.steps(waiting));
      waiting.clear();
      next = clock.getAsLong() + PERIOD;
    }
  }

  /** Sends what waits. */
  @Override
  public void close() {
    flush();
  }
}
