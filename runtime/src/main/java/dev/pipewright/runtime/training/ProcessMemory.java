package dev.pipewright.runtime.training;

import dev.pipewright.runtime.tensor.Gpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What this process holds in memory, from Linux's {@code /proc/self/status}; 0 where there is none.
 * Where tensors lie on a GPU, what they take there.
 */
public final class ProcessMemory {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final Path CLEAR = Path.of("/proc/self/clear_refs");
  private static final String FORGET_PEAK = "5";

  private ProcessMemory() {}

  /** Bytes in memory now. */
  public static long now() {
    return Gpu.used() ? Gpu.bytes() : bytes("VmRSS:");
  }

  /** The most since {@link #forgetPeak}. */
  public static long peak() {
    return Gpu.used() ? Gpu.peakBytes() : bytes("VmHWM:");
  }

  /** Counts the peak from here on. */
  public static void forgetPeak() {
    if (Gpu.used()) {
      Gpu.forgetPeak();
      return;
    }
    try {
      Files.writeString(CLEAR, FORGET_PEAK);
    } catch (IOException e) {
      // then it is the peak since the process began, which is no smaller
    }
  }

  private static long bytes(String name) {
    try {
      for (String line : Files.readAllLines(STATUS)) {
        if (line.startsWith(name)) {
          return 1024 * Long.parseLong(line.substring(name.length()).replace("kB", "").strip());
        }
      }
    } catch (IOException e) {
      // not Linux
    }
    return 0;
  }
}
