package dev.pipewright.runtime.profiler;

import dev.pipewright.profile.LayerMemory;
import dev.pipewright.runtime.data.Batch;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * What each layer needs while it computes. A pass is run several times and the least that was seen
 * counts: whatever else a process does adds to it.
 */
final class LayerNeeds {
  private static final int ROUNDS = 4; // the first of which makes the gradients that others add to

  private final Layers layers;
  private final LossFunction objective;
  private final Stopwatch stopwatch;
  private final double[] forward;
  private final double[] backward;
  private double judging = Double.POSITIVE_INFINITY;
  private long[] kept = new long[0];
  private long[] outputs = new long[0];

  private LayerNeeds(Layers layers, LossFunction objective, Stopwatch stopwatch) {
    this.layers = layers;
    this.objective = objective;
    this.stopwatch = stopwatch;
    this.forward = new double[layers.size()];
    this.backward = new double[layers.size()];
    Arrays.fill(forward, Double.POSITIVE_INFINITY);
    Arrays.fill(backward, Double.POSITIVE_INFINITY);
  }

  /**
   * Measures the layers at one size of batch.
   *
   * @param stopwatch of bytes
   */
  static List<LayerMemory> measure(
      Layers layers, LossFunction objective, Supplier<Batch> samples, Stopwatch stopwatch) {
    LayerNeeds needs = new LayerNeeds(layers, objective, stopwatch);
    for (int round = 0; round < ROUNDS; round++) {
      needs.whole(samples);
    }
    List<LayerMemory> memory = needs.inTwoParts(samples);
    for (int layer = 0; layer < layers.size(); layer++) {
      layers.parameters(layer).stream().map(Parameter::value).forEach(Tensor::clearGradient);
    }
    return memory;
  }

  private void whole(Supplier<Batch> samples) {
    double[] there = new double[layers.size()];
    double[] back = new double[layers.size()];
    Batch batch = LayerClock.read(samples);
    try (LayerPass pass = new LayerPass(layers, false, stopwatch)) {
      pass.forward(batch.inputs(), there);
      kept = pass.keptBytes();
      outputs = pass.outputBytes();
      judging = Math.min(judging, pass.judge(objective, batch));
      pass.backwardFreeing(back);
    } finally {
      LayerClock.close(batch);
    }
    for (int layer = 0; layer < there.length; layer++) {
      forward[layer] = Math.min(forward[layer], there[layer]);
      backward[layer] = Math.min(backward[layer], back[layer]);
    }
  }

  private List<LayerMemory> inTwoParts(Supplier<Batch> samples) {
    Batch batch = LayerClock.read(samples);
    double[] unseen = new double[layers.size()];
    try (LayerPass pass = new LayerPass(layers, true, LayerNeeds::unseen)) {
      pass.forward(batch.inputs(), unseen);
      long[] splitKept = pass.keptBytes();
      pass.judge(objective, batch);
      pass.backwardInput(unseen);
      long[] deferred = pass.deferredBytes();
      pass.backwardWeight(unseen);
      List<LayerMemory> memory = new ArrayList<>();
      for (int layer = 0; layer < layers.size(); layer++) {
        memory.add(
            new LayerMemory(
                forward(layer), Math.max(0, backward[layer]), splitKept[layer], deferred[layer]));
      }
      return memory;
    } finally {
      LayerClock.close(batch);
    }
  }

  private static double unseen(Runnable work) {
    work.run();
    return 0;
  }

  /** Beyond what is kept; with the loss. */
  private double forward(int layer) {
    double own = Math.max(0, forward[layer] - kept[layer]);
    return layer == layers.last() ? Math.max(own, outputs[layer] + judging) : own;
  }
}
