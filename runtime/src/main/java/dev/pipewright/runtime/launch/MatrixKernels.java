package dev.pipewright.runtime.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Which of OpenBLAS's kernels a worker's products of matrices run with, where another choice than
 * its own is faster: {@code docs/decisions.md} has the figures.
 */
final class MatrixKernels {
  /** By which OpenBLAS is told, when it is loaded. */
  static final String VARIABLE = "OPENBLAS_CORETYPE";

  private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

  /** Zen 3 and Zen 4; of these, only Zen 4 has 512-bit instructions. */
  private static final int FAMILY = 25;

  private MatrixKernels() {}

  /** The better choice on this machine, if any. */
  static Optional<String> better() {
    return better(PROCESSORS);
  }

  /**
   * OpenBLAS takes its kernels of 512-bit instructions wherever there are such. Zen 4 executes each
   * of them in two halves, and is faster with those of 256 bits.
   */
  static Optional<String> better(Path processors) {
    List<String> lines;
    try {
      lines = Files.readAllLines(processors);
    } catch (IOException e) { // another system
      return Optional.empty();
    }
    boolean zen4 =
        value(lines, "vendor_id").equals("AuthenticAMD")
            && value(lines, "cpu family").equals(Integer.toString(FAMILY))
            && List.of(value(lines, "flags").split(" ")).contains("avx512f");
    return zen4 ? Optional.of("Haswell") : Optional.empty();
  }

  /** Of the first processor. */
  private static String value(List<String> lines, String key) {
    return lines.stream()
        .filter(line -> line.startsWith(key) && line.contains(":"))
        .findFirst()
        .map(line -> line.substring(line.indexOf(':') + 1).strip())
        .orElse("");
  }
}
