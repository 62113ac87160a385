package dev.pipewright.runtime.tensor;

import dev.pipewright.units.Check;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.pytorch.global.torch;

/** The native library as a whole. */
public final class Torch {
  /** Variables that a worker process needs before the library is loaded; it reads them once. */
  public static final List<String> THREAD_VARIABLES =
      List.of("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS");

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
   * <p>The products of matrices follow {@link #THREAD_VARIABLES} instead.
   */
  public static void start(int threads) {
    Check.that(threads >= 1, "a process computes with a thread or more: threads=%d", threads);
    Loader.load(torch.class);
    torch.set_num_threads(threads);
    torch.globalContext().setDeterministicAlgorithms(true, false);
  }

  /**
   * Computes a little of everything once, so that the library's code and working space are in
   * memory: what a process holds more from then on is tensors.
   */
  public static void touch() {
    try (Scope scope = new Scope()) {
      Tensor image = Tensor.ones(2, 8, 16, 16).withGradient();
      Tensor kernel = Tensor.ones(8, 8, 3, 3).withGradient();
      long[] one = {1, 1};
      Tensor map = Functions.convolution(image, kernel, Optional.empty(), one, one, one, 1);
      Tensor rows = Functions.relu(map).flattened(1);
      Tensor weight = Tensor.ones(512, 2048).withGradient();
      Tensor scores = Functions.linear(rows, weight, Optional.empty());
      Tensor loss = Functions.crossEntropy(scores, Tensor.ofWhole(new long[] {0, 1}, 2));
      Gradients.add(List.of(loss), List.of(Tensor.ones()));
    }
  }
}
