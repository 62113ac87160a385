package dev.pipewright.runtime.net;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.RandomSource;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.Torch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Normalisation over several workers against normalisation over the joined batch. */
class SharedStatisticsTest {
  private static final int CHANNELS = 3;

  @BeforeAll
  static void start() {
    Torch.start(1);
  }

  /** Workers that are threads. */
  private static final class Together implements SharedStatistics {
    private final CyclicBarrier barrier;
    private final List<float[]> handedIn = new ArrayList<>();

    private Together(int workers) {
      barrier = new CyclicBarrier(workers);
    }

    @Override
    public boolean shared() {
      return true;
    }

    @Override
    public void sumInPlace(Tensor tensor) {
      try {
        synchronized (handedIn) {
          handedIn.add(tensor.toFloats());
        }
        barrier.await();
        float[] sum = new float[(int) tensor.elements()];
        for (int i = 0; i < sum.length; i++) {
          double exact = 0; // so that the order in which workers come does not matter
          for (float[] part : handedIn) {
            exact += part[i];
          }
          sum[i] = (float) exact;
        }
        if (barrier.await() == 0) {
          handedIn.clear();
        }
        barrier.await();
        tensor.copyInPlace(Tensor.of(sum, tensor.shape()));
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** Two normalisations, so that one's gradient goes on through the other. */
  private static List<Module> modules() {
    Operator norm = new Operator.Normalization(Operator.Normalization.Kind.BATCH, CHANNELS);
    List<Integer> ones = List.of(1, 1);
    Operator mix =
        new Operator.Convolution(CHANNELS, CHANNELS, ones, ones, List.of(0, 0), ones, 1, false);
    Optional<Shape> shape = Optional.of(Shape.of(CHANNELS, 4, 5));
    List<Layer> layers = new ArrayList<>();
    for (Operator operator : List.of(norm, mix, norm)) {
      layers.add(new Layer("layer-" + layers.size(), operator, shape, 1, 1, 1, Work.NONE));
    }
    Modules modules = new Modules(LayerGraph.chain("norms", layers), 3);
    return List.of(modules.of(0), modules.of(1), modules.of(2));
  }

  /** Output, gradient of the input, then of the parameters, then averages. */
  private record Left(
      Tensor output, Tensor input, List<Tensor> parameters, List<Tensor> averages) {}

  private static Left run(
      Tensor samples, Tensor gradient, SharedStatistics statistics, boolean parts) {
    List<Module> modules = modules();
    Tensor input = samples.copy().withGradient();
    ForwardPass pass = ForwardPass.training(parts, statistics);
    Tensor output = input;
    for (Module module : modules) {
      output = module.forward(List.of(output), pass);
    }
    Tensor inputGradient;
    if (parts) {
      List<Tensor> wanted = new ArrayList<>(pass.noted());
      wanted.add(input);
      List<Tensor> found = Gradients.of(List.of(output), List.of(gradient), wanted, true);
      pass.addWeightGradients(found.subList(0, found.size() - 1));
      inputGradient = found.get(found.size() - 1);
    } else {
      Gradients.add(List.of(output), List.of(gradient));
      inputGradient = input.gradient().orElseThrow();
    }
    LayerOperators all = new LayerOperators(modules);
    return new Left(
        output.detached(),
        inputGradient,
        all.parameters().stream().map(p -> p.value().gradient().orElseThrow()).toList(),
        all.averages().stream().map(Parameter::value).toList());
  }

  private static void assertClose(Tensor expected, Tensor actual, String what) {
    float[] e = expected.toFloats();
    float[] a = actual.toFloats();
    double scale = 0;
    double difference = 0;
    for (int i = 0; i < e.length; i++) {
      scale = Math.max(scale, Math.abs(e[i]));
      difference = Math.max(difference, Math.abs(e[i] - a[i]));
    }
    assertTrue(difference <= 2e-5 * Math.max(1, scale), what + ": " + difference + " of " + scale);
  }

  @ParameterizedTest
  @CsvSource({"false, 4 4", "false, 5 2 1", "true, 3 4", "false, 6"})
  void workersTogetherNormaliseAsOneWouldTheJoinedBatch(boolean parts, String shares)
      throws Exception {
    int[] counts = Arrays.stream(shares.split(" ")).mapToInt(Integer::parseInt).toArray();
    long all = Arrays.stream(counts).sum();
    Tensor samples;
    Tensor gradient;
    try (RandomSource random = new RandomSource(5)) {
      samples = random.normal(2, all, CHANNELS, 4, 5).plus(random.normal(3, 1, CHANNELS, 1, 1));
      gradient = random.normal(1, all, CHANNELS, 4, 5);
    }
    Left whole = run(samples, gradient, SharedStatistics.OWN, false);
    Together together = new Together(counts.length);
    List<Left> found = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(counts.length)) {
      List<Future<Left>> workers = new ArrayList<>();
      long first = 0;
      for (int count : counts) {
        Tensor own = samples.part(0, first, count);
        Tensor ownGradient = gradient.part(0, first, count).packed();
        workers.add(threads.submit(() -> run(own, ownGradient, together, parts)));
        first += count;
      }
      for (Future<Left> worker : workers) {
        found.add(worker.get());
      }
    }
    assertClose(whole.output(), joined(found.stream().map(Left::output).toList()), "output");
    assertClose(whole.input(), joined(found.stream().map(Left::input).toList()), "input");
    for (int i = 0; i < whole.parameters().size(); i++) {
      Tensor sum = Tensor.zeros(whole.parameters().get(i).shape());
      for (Left worker : found) {
        sum.addInPlace(worker.parameters().get(i));
      }
      assertClose(whole.parameters().get(i), sum, "parameter " + i);
    }
    for (int i = 0; i < whole.averages().size(); i++) {
      for (Left worker : found) {
        assertClose(whole.averages().get(i), worker.averages().get(i), "average " + i);
      }
    }
  }

  private static Tensor joined(List<Tensor> parts) {
    return Tensor.joined(parts, 0);
  }
}
