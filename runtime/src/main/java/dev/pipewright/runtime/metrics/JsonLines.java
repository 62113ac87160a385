package dev.pipewright.runtime.metrics;

import dev.pipewright.formats.file.OutputFile;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file with a JSON object for each step, one per line, each complete when it was recorded. A run
 * that continues another appends to its lines; of a step that stands twice the later line counts.
 */
public final class JsonLines implements MetricSink {
  private final Path file;
  private final BufferedWriter out;

  public JsonLines(Path file) {
    this.file = file;
    try {
      this.out =
          new BufferedWriter(
              Channels.newWriter(
                  FileChannel.open(
                      OutputFile.notLinked(file),
                      StandardOpenOption.CREATE,
                      StandardOpenOption.APPEND,
                      LinkOption.NOFOLLOW_LINKS),
                  StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw OutputFile.failed(file, "cannot be written", e);
    }
  }

  @Override
  public void record(StepMetrics metrics) {
    try {
      out.write(line(metrics));
      out.flush();
    } catch (IOException e) {
      throw OutputFile.failed(file, "cannot be written", e);
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
      throw OutputFile.failed(file, "cannot be written", e);
    }
  }
}
