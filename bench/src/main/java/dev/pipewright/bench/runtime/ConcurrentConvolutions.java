package dev.pipewright.bench.runtime;

import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.RandomSource;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.Torch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Threads of one process that meet a new convolution at once, forward and backward, again and
 * again. What each computes has to be what one thread computes alone, bit by bit.
 */
public final class ConcurrentConvolutions {
  static final long SEED = 41;
  private static final int[] KERNELS = {1, 1, 3, 3, 5};

  /**
   * A convolution.
   *
   * @param size of its input along each spatial axis
   */
  record Shape(
      int samples,
      int groups,
      int channels,
      int filters,
      List<Integer> size,
      int kernel,
      int stride,
      int dilation,
      boolean bias) {
    static Shape of(SplittableRandom random) {
      int axes = random.nextInt(8) == 0 ? 3 : 2;
      int kernel = KERNELS[random.nextInt(KERNELS.length)];
      int dilation = kernel > 1 && random.nextInt(4) == 0 ? 2 : 1;
      int groups = random.nextInt(3) == 0 ? random.nextInt(2, 17) : 1;
      int most = axes == 2 ? 128 : 32; // channels or filters
      List<Integer> size = new ArrayList<>();
      for (int axis = 0; axis < axes; axis++) {
        size.add(dilation * (kernel - 1) + random.nextInt(1, 9));
      }
      return new Shape(
          random.nextInt(1, 9),
          groups,
          groups * random.nextInt(1, Math.max(2, most / groups)),
          groups * random.nextInt(1, Math.max(2, most / groups)),
          size,
          kernel,
          random.nextInt(1, 4),
          dilation,
          random.nextBoolean());
    }

    private long[] each(int value) {
      long[] values = new long[size.size()];
      Arrays.fill(values, value);
      return values;
    }

    private long[] shape(int first, int second, long[] spatial) {
      long[] shape = new long[spatial.length + 2];
      shape[0] = first;
      shape[1] = second;
      System.arraycopy(spatial, 0, shape, 2, spatial.length);
      return shape;
    }

    /** The output and the gradients of input, weight and bias. */
    private float[][] computed() {
      try (Scope scope = new Scope();
          RandomSource random = new RandomSource(SEED)) {
        long[] spatial = size.stream().mapToLong(Integer::longValue).toArray();
        Tensor input = random.normal(1, shape(samples, channels, spatial)).packed().withGradient();
        Tensor weight =
            random.normal(1, shape(filters, channels / groups, each(kernel))).withGradient();
        Tensor added = random.normal(1, filters).withGradient();
        Tensor output =
            Functions.convolution(
                input,
                weight,
                bias ? Optional.of(added) : Optional.empty(),
                each(stride),
                each(kernel / 2),
                each(dilation),
                groups);
        Gradients.add(List.of(output), List.of(random.normal(1, output.shape()).packed()));
        return new float[][] {
          output.detached().toFloats(),
          input.gradient().orElseThrow().toFloats(),
          weight.gradient().orElseThrow().toFloats(),
          added.gradient().map(Tensor::toFloats).orElse(new float[0])
        };
      }
    }
  }

  private ConcurrentConvolutions() {}

  /** Those of so many random convolutions that a thread computed other than one thread alone. */
  static List<Shape> wrong(int shapes, int threads) throws InterruptedException {
    SplittableRandom random = new SplittableRandom(SEED);
    CyclicBarrier together = new CyclicBarrier(threads);
    List<Shape> wrong = new ArrayList<>();
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      for (int i = 0; i < shapes; i++) {
        Shape shape = Shape.of(random);
        Callable<float[][]> once =
            () -> {
              together.await();
              return shape.computed();
            };
        List<Future<float[][]>> all = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
          all.add(pool.submit(once));
        }
        boolean same = true;
        float[][] alone = null;
        for (Future<float[][]> each : all) {
          float[][] found = each.get();
          alone = alone == null ? shape.computed() : alone; // when all threads have met it
          same &= Arrays.deepEquals(found, alone);
        }
        if (!same) {
          wrong.add(shape);
        }
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("a convolution failed", e.getCause());
    }
    return wrong;
  }

  /**
   * {@code SHAPES THREADS LIBRARY}: {@code as-trained} as {@code train --workers threads} sets the
   * library up, {@code onednn} with oneDNN, which threads must not share. Prints what is wrong.
   */
  public static void main(String[] arguments) throws InterruptedException {
    if (arguments[2].equals("onednn")) {
      Torch.startAlone(1);
    } else {
      Torch.start(1);
    }
    for (Shape shape : wrong(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]))) {
      System.out.println("wrong: " + shape);
    }
  }
}
