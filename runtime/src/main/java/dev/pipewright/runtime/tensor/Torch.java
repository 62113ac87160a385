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

  /** The newest instructions that oneDNN may use; it asks for them once, when it first computes. */
  static final String INSTRUCTIONS = "ONEDNN_MAX_CPU_ISA";

  private Torch() {}

  /** The library's version; it is not loaded for that. */
  public static String version() {
    try {
      return Loader.getVersion("org.bytedeco", "pytorch");
    } catch (IOException e) {
      return "of unknown version"; // a jar that was packed by somebody else
    }
  }

  /**
   * Loads the library, which takes about a second, and has it compute with so many threads.
   *
   * <p>The products of matrices follow {@link #THREAD_VARIABLES} instead. Memory that is about to
   * be written is not filled with NaN before, as deterministic algorithms would have it by default.
   */
  public static void start(int threads) {
    Check.that(threads >= 1, "a process computes with a thread or more: threads=%d", threads);
    load();
    torch.set_num_threads(threads);
    torch.globalContext().setDeterministicAlgorithms(true, false);
    torch.globalContext().setDeterministicFillUninitializedMemory(false); // nobody reads it
  }

  /**
   * The same where several of this process's threads each compute for themselves.
   *
   * <p>oneDNN 3.7 is not safe there with instructions of 512 bits: two threads that meet a new
   * convolution at once may arrange its weights differently and then compute with one's
   * arrangement, so that the other's gradient is wrong ({@code docs/decisions.md}). It is therefore
   * held to instructions of 256 bits, unless its user has chosen some.
   */
  public static void startForSeveral(int threads) {
    start(threads);
    torch.set_env(INSTRUCTIONS, "AVX2", false);
  }

  /** Loads the library and nothing else. */
  public static void load() {
    Libraries.load();
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
