package dev.pipewright.runtime.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MatrixKernelsTest {
  @TempDir Path folder;

  private Optional<String> on(String vendor, int family, String flags) throws IOException {
    String text =
        "processor\t: 0\nvendor_id\t: %s\ncpu family\t: %d\nmodel\t\t: 17\nflags\t\t: fpu %s fma\n"
            .formatted(vendor, family, flags);
    return MatrixKernels.better(Files.writeString(folder.resolve("cpuinfo"), text));
  }

  @Test
  void zen4HasFasterOnesThanThoseOf512Bits() throws IOException {
    assertEquals(Optional.of("Haswell"), on("AuthenticAMD", 25, "avx2 avx512f"));
  }

  @Test
  void allOthersAreLeftToTheLibrary() throws IOException {
    assertEquals(Optional.empty(), on("AuthenticAMD", 25, "avx2")); // Zen 3
    assertEquals(Optional.empty(), on("AuthenticAMD", 26, "avx2 avx512f")); // Zen 5
    assertEquals(Optional.empty(), on("GenuineIntel", 6, "avx2 avx512f"));
    assertEquals(Optional.empty(), MatrixKernels.better(folder.resolve("absent")));
  }
}
