package dev.pipewright.runtime.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.launch.MatrixProducts.Processor;
import dev.pipewright.runtime.tensor.Mkl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MatrixProductsTest {
  @TempDir Path folder;

  private Optional<String> on(String vendor, int family, String flags) throws IOException {
    String text =
        "processor\t: 0\nvendor_id\t: %s\ncpu family\t: %d\nmodel\t\t: 17\nflags\t\t: fpu %s fma\n"
            .formatted(vendor, family, flags);
    return Processor.of(Files.writeString(folder.resolve("cpuinfo"), text)).betterKernels();
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
    assertEquals(Optional.empty(), Processor.of(folder.resolve("absent")).betterKernels());
  }

  private static Map<String, String> communication(Map<String, String> by) {
    Map<String, String> environment = new HashMap<>(by);
    MatrixProducts.tell(environment, 3);
    environment.remove(MatrixProducts.KERNELS); // this machine's
    return environment;
  }

  @Test
  void whoWishesItGetsIntelsLibrary() {
    Path library = Mkl.unpacked().orElse(null);
    assumeTrue(library != null, "it is there for Linux on x86-64 only");
    Map<String, String> communication =
        communication(Map.of(MatrixProducts.WISH, "mkl", "MKL_CBWR", "AUTO"));
    assertEquals(library.toString(), communication.get(MatrixProducts.LOADED_BEFORE));
    assertEquals("3", communication.get("MKL_NUM_THREADS"));
    assertEquals("AUTO", communication.get("MKL_CBWR")); // the user's
    assertTrue(Files.exists(library.resolveSibling("libmkl_core.so.2")));
    assertEquals(
        library + ":mine.so",
        communication(Map.of(MatrixProducts.WISH, "mkl", MatrixProducts.LOADED_BEFORE, "mine.so"))
            .get(MatrixProducts.LOADED_BEFORE));
  }

  @Test
  void aWishThatIsNoLibraryIsRefused() {
    BadInputException mistake =
        assertThrows(
            BadInputException.class, () -> communication(Map.of(MatrixProducts.WISH, "OpenBLAS")));
    assertEquals(
        "PIPEWRIGHT_BLAS: 'OpenBLAS' is no library for products of matrices; give mkl or openblas,"
            + " or leave it out",
        mistake.getMessage());
  }

  @Test
  void whoWishesTheOtherGetsThat() {
    Map<String, String> wish = Map.of(MatrixProducts.WISH, "openblas");
    assertEquals(wish, communication(wish));
  }
}
