package dev.pipewright.runtime.profiler;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The machine that this program runs on, as far as Linux states it. */
final class Machine {
  private static final Path PROCESSORS = Path.of("/proc/cpuinfo");
  private static final Path MEMORY = Path.of("/proc/meminfo");

  private Machine() {}

  /** The name of its processor. */
  static String processor() {
    return value(PROCESSORS, "model name", System.getProperty("os.arch", "a processor"))
        .replaceAll("\\s+", " ");
  }

  /** Bytes that programs could still have; what is free for Java where the system does not say. */
  static long availableMemory() {
    String kilobytes = value(MEMORY, "MemAvailable", "");
    return kilobytes.isEmpty()
        ? Runtime.getRuntime().maxMemory()
        : 1024 * Long.parseLong(kilobytes.replace("kB", "").strip());
  }

  private static String value(Path file, String key, String otherwise) {
    try {
      for (String line : Files.readAllLines(file)) {
        int colon = line.indexOf(':');
        if (line.startsWith(key) && colon > 0) {
          return line.substring(colon + 1).strip();
        }
      }
    } catch (IOException e) {
      // not Linux
    }
    return otherwise;
  }
}
