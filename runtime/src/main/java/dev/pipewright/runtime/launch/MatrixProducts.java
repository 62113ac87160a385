package dev.pipewright.runtime.launch;

import dev.pipewright.formats.file.BadInputException;
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
  /** The variable that chooses {@code mkl} or {@code openblas}; otherwise the processor decides. */
  static final String WISH = "PIPEWRIGHT_BLAS";

  /** The variable that chooses OpenBLAS's kernels when it is loaded. */
  static final String KERNELS = "OPENBLAS_CORETYPE";

  /** Libraries that a process loads before those that it asks for. */
  static final String LOADED_BEFORE = "LD_PRELOAD";

  private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

  /** Zen 3 and Zen 4; of these, only Zen 4 has 512-bit instructions. */
  private static final int FAMILY = 25;

  private MatrixProducts() {}

  /** Adds to a worker's variables what its user has not set. */
  static void tell(Map<String, String> environment, int threads) {
    Processor processor = Processor.of(PROCESSORS);
    mkl(environment.getOrDefault(WISH, ""), processor)
        .ifPresent(library -> {
          String first = library.toString();
          environment.merge(LOADED_BEFORE, first, (users, ours) -> ours + ":" + users);
          Mkl.variables(threads).forEach(environment::putIfAbsent);
        });
    processor.betterKernels().ifPresent(kernels -> environment.putIfAbsent(KERNELS, kernels));
  }

  /** Intel's library where it is to be used. */
  private static Optional<Path> mkl(String wish, Processor processor) {
    return switch (wish) {
      case "" -> processor.fromIntel() ? Mkl.unpacked() : Optional.empty();
      case "openblas" -> Optional.empty();
      case "mkl" -> {
        Optional<Path> library = Mkl.unpacked();
        if (library.isEmpty()) {
          throw new BadInputException(
              WISH + ": mkl is there for Linux on x86-64 only; leave the variable out");
        }
        yield library;
      }
      default ->
          throw new BadInputException(
              "%s: '%s' is no library for products of matrices; give mkl or openblas, or leave it out"
                  .formatted(WISH, wish));
    };
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
