package dev.pipewright.runtime.training;

import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.runtime.engine.LiveBytes.Kind;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * A worker's memory over a step as comma-separated values: seconds from the first op, bytes, and
 * these by what they are for. {@code cyclic-memory} reads it.
 */
final class MemoryFile {
  static final String FOLDER = "memory";

  private MemoryFile() {}

  /**
   * Writes what a worker has reported.
   *
   * @param folder of these files
   */
  static void write(Path folder, int worker, List<MemoryRecord.Sample> samples) {
    StringBuilder text = new StringBuilder("time,bytes");
    for (Kind kind : Kind.values()) {
      text.append(',').append(kind.name().toLowerCase(Locale.ROOT));
    }
    text.append('\n');
    double before = Double.NEGATIVE_INFINITY;
    for (MemoryRecord.Sample sample : samples) {
      double seconds = sample.nanoseconds() / 1e9;
      if (seconds > before) { // nothing happens in no time
        text.append(seconds).append(',').append(sample.all());
        for (long bytes : sample.bytes()) {
          text.append(',').append(bytes);
        }
        text.append('\n');
      }
      before = Math.max(before, seconds);
    }
    OutputFile.write(folder.resolve("worker-" + worker + ".csv"), text.toString());
  }
}
