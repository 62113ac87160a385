package dev.pipewright.runtime.tensor;

import dev.pipewright.units.Check;
import java.io.IOException;
import java.util.List;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.global.torch;

/** The native library as a whole. */
public final class Torch {
  /** Variables that a worker process needs before the library is loaded; it reads them once. */
  public static final List<String> THREAD_VARIABLES =
      List.of("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS");

  private static boolean loaded; // guarded by the class

  private Torch() {}

  /** The library's version; it is not loaded for that. */
  public static String version() {
    try {
      return Loader.getVersion("org.bytedeco", "pytorch");
    } catch (IOException e) {
      return "of unknown version"; // a jar of another origin
    }
  }

  /**
   * Loads the library, which takes about a second, and has it compute with so many threads.
   *
   * <p>Any number of this process's threads may then compute at once, each for itself: oneDNN is
   * off, because two threads that meet a new convolution, activation or recurrent layer in it at
   * once can compute wrong gradients or end the process ({@code docs/decisions.md}). A process in
   * which only one thread computes calls {@link #startAlone}, which is faster.
   *
   * <p>The products of matrices follow {@link #THREAD_VARIABLES} instead. Memory that is about to
   * be written is not filled with NaN before, as deterministic algorithms would have it by default.
   */
  public static void start(int threads) {
    start(threads, false);
  }

  /**
   * Starts the library in a process that has only one computing thread; the library may share its
   * work out over {@code threads}. It computes with oneDNN.
   */
  public static void startAlone(int threads) {
    start(threads, true);
  }

  private static void start(int threads, boolean alone) {
    Check.that(threads >= 1, "a process computes with a thread or more: threads=%d", threads);
    load();
    torch.set_num_threads(threads);
    torch.globalContext().setUserEnabledMkldnn(alone);
    torch.globalContext().setUserEnabledNNPACK(false); // Winograd's sums: not as exact
    torch.globalContext().setDeterministicAlgorithms(true, false);
    torch.globalContext().setDeterministicFillUninitializedMemory(false); // it is never read
  }

  /** Loads the library and turns oneDNN off, as for {@link #start}; the first call only. */
  public static synchronized void load() {
    if (!loaded) {
      Libraries.load();
      torch.globalContext().setUserEnabledMkldnn(false);
      loaded = true;
    }
  }

  /**
   * Has new tensors be in memory from the start, as they count there; otherwise the system gives
   * them room when they are written to.
   */
  public static void fillNewMemory() {
    torch.globalContext().setDeterministicFillUninitializedMemory(true);
  }

  /**
   * Has the C library return to the system what tensors have given back to it: what is in memory
   * then is in use.
   */
  public static void giveBack() {
    Pointer.trimMemory();
  }
}
