package dev.pipewright.runtime.launch;

import dev.pipewright.runtime.tensor.Mkl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a worker's products of matrices run with, where that is faster than what libtorch would take
 * by itself: {@code docs/decisions.md} has the figures.
 */
final class MatrixProducts {
  /** By which a user chooses {@code mkl} or {@code openblas}; otherwise the processor does. */
  static final String WISH = "PIPEWRIGHT_BLAS";

  /** By which OpenBLAS is told of its kernels, when it is loaded. */
  static final String KERNELS = "OPENBLAS_CORETYPE";

  /** Libraries that a process loads before those that it asks for. */
  static final String LOADED_BEFORE = "LD_PRELOAD";

  private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

  /** Zen 3 and Zen 4; of these, only Zen 4 has 512-bit instructions. */
  private static final int FAMILY = 25;

  private MatrixProducts() {}

  /** Adds to a worker's variables what its user has not set. */
  static void tell(Map<String, String> environment, int threads) {
    String wish = environment.getOrDefault(WISH, "");
    Processor processor = Processor.of(PROCESSORS);
    boolean wanted = wish.isEmpty() ? processor.fromIntel() : wish.equals("mkl");
    if (wanted) {
      Mkl.unpacked()
          .ifPresent(library -> {
            String first = library.toString();
            environment.merge(LOADED_BEFORE, first, (users, ours) -> ours + ":" + users);
            Mkl.variables(threads).forEach(environment::putIfAbsent);
          });
    }
    processor.betterKernels().ifPresent(kernels -> environment.putIfAbsent(KERNELS, kernels));
  }

  /** The first processor, by what the system says of it; empty where it says nothing. */
  record Processor(List<String> lines) {
    static Processor of(Path file) {
      try {
        return new Processor(Files.readAllLines(file));
      } catch (IOException e) { // another system
        return new Processor(List.of());
      }
    }

    boolean fromIntel() {
      return value("vendor_id").equals("GenuineIntel");
    }

    /**
     * OpenBLAS takes its kernels of 512-bit instructions wherever there are such. Zen 4 executes
     * each of them in two halves, and is faster with those of 256 bits.
     */
    Optional<String> betterKernels() {
      boolean zen4 =
          value("vendor_id").equals("AuthenticAMD")
              && value("cpu family").equals(Integer.toString(FAMILY))
              && List.of(value("flags").split(" ")).contains("avx512f");
      return zen4 ? Optional.of("Haswell") : Optional.empty();
    }

    private String value(String key) {
      return lines.stream()
          .filter(line -> line.startsWith(key) && line.contains(":"))
          .findFirst()
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .orElse("");
    }
  }
}
