package dev.pipewright.runtime.metrics;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file with a JSON object for each step, one per line, each complete when it was recorded. A run
 * that goes on where another ended writes behind its lines; of a step that stands twice the later
 * line counts.
 */
public final class JsonLines implements MetricSink {
  private final Path file;
  private final BufferedWriter out;

  public JsonLines(Path file) {
    this.file = file;
    try {
      this.out =
          Files.newBufferedWriter(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": cannot be written", e);
    }
  }

  @Override
  public void record(StepMetrics metrics) {
    try {
      out.write(line(metrics));
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": cannot be written", e);
    }
  }

  /** Names of values need no escapes: we choose them. What is not finite becomes {@code null}. */
  static String line(StepMetrics metrics) {
    StringBuilder line = new StringBuilder("{\"step\": ").append(metrics.step());
    line.append(", \"samples\": ").append(metrics.samples());
    line.append(", \"unix_s\": ").append(metrics.unixSeconds());
    metrics
        .values()
        .forEach((name, value) ->
            line.append(", \"")
                .append(name)
                .append("\": ")
                .append(Double.isFinite(value) ? value.toString() : "null"));
    return line.append("}\n").toString();
  }

  @Override
  public void close() {
    try {
      out.close();
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": cannot be written", e);
    }
  }
}
