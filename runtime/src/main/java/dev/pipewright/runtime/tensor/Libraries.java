package dev.pipewright.runtime.tensor;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.pytorch.global.torch;

/**
 * The files of the native libraries.
 *
 * <p>JavaCPP looks for each library that some build may need, CUDA's too, in all jars and folders
 * under several names, which is half of what a worker takes to start. Where it is known which files
 * there are, they are loaded by their names instead.
 */
final class Libraries {
  private static final String KNOWN = "linux-x86_64";

  /** Libraries by project; each after those that it needs. */
  private static final List<String> FILES =
      List.of(
          "javacpp/%s/libjnijavacpp.so",
          "openblas/%s/libgcc_s.so.1",
          "openblas/%s/libquadmath.so.0",
          "openblas/%s/libgfortran.so.5",
          "openblas/%s/libopenblas.so.0",
          "pytorch/%s/libgomp.so.1",
          "pytorch/%s/libc10.so",
          "pytorch/%s/libtorch_cpu.so",
          "pytorch/%s/libtorch.so",
          "pytorch/%s/libjnitorch.so");

  /** The property that tells JavaCPP that they are loaded. */
  private static final String LOADS = "org.bytedeco.javacpp.loadLibraries";

  /** Ends the platform's name for builds of which some libraries compute on GPUs. */
  private static final String GPUS = "-gpu";

  private Libraries() {}

  /** Whether they can compute on GPUs. */
  static boolean forGpus() {
    return Libraries.class.getResource(folder(GPUS)) != null;
  }

  private static String folder(String build) {
    return "/org/bytedeco/pytorch/" + Loader.getPlatform() + build + "/";
  }

  /**
   * Loads them. All are unpacked before: one that is loaded while others are still packed would
   * find those of a PyTorch that the system has installed.
   */
  static void load() {
    NativeCache.folder();
    try {
      if (Loader.getPlatform().equals(KNOWN) && !forGpus()) {
        System.setProperty(LOADS, "false");
        unpacked().forEach(file -> System.load(file.getPath()));
      } else {
        Loader.cacheResources(folder(forGpus() ? GPUS : ""));
        Loader.load(torch.class);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("could not unpack libtorch", e);
    }
  }

  private static List<File> unpacked() throws IOException {
    List<File> files = new ArrayList<>();
    for (String file : FILES) {
      files.add(Loader.cacheResource("/org/bytedeco/" + file.formatted(KNOWN)));
    }
    return files;
  }
}
