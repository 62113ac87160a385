package dev.pipewright.runtime.tensor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.bytedeco.javacpp.Loader;

/**
 * Intel's library for products of matrices, where its jar is on the class path. It has the
 * functions that libtorch calls of OpenBLAS; loaded first, it serves these calls.
 */
public final class Mkl {
  private static final String LOADED = "libmkl_rt.so.2";

  /**
   * Libraries that it loads itself from its own folder: those of the processor, and what they need.
   */
  private static final List<String> NEEDED =
      List.of(
          "libmkl_core.so.2",
          "libmkl_intel_lp64.so.2",
          "libmkl_gnu_thread.so.2",
          "libmkl_def.so.2",
          "libmkl_mc3.so.2",
          "libmkl_avx2.so.2",
          "libmkl_avx512.so.2");

  private Mkl() {}

  /** What is to be loaded before libtorch, if it is there; unpacked when first asked for. */
  public static Optional<Path> unpacked() {
    String folder = "/org/bytedeco/mkl/" + Loader.getPlatform() + "/";
    if (Mkl.class.getResource(folder + LOADED) == null) {
      return Optional.empty();
    }
    NativeCache.folder();
    try {
      for (String name : NEEDED) {
        Loader.cacheResource(Mkl.class, folder + name);
      }
      return Optional.of(Loader.cacheResource(Mkl.class, folder + LOADED).toPath());
    } catch (IOException e) {
      throw new UncheckedIOException("could not unpack Intel's library for matrices", e);
    }
  }

  /** Its settings when it is loaded. */
  public static Map<String, String> variables(int threads) {
    return Map.of(
        "MKL_INTERFACE_LAYER", "LP64",
        "MKL_THREADING_LAYER", "GNU", // with the library for threads that libtorch brings along
        "MKL_NUM_THREADS", Integer.toString(threads),
        "MKL_CBWR", "AUTO,STRICT"); // the same bits wherever tensors lie in memory
  }
}
