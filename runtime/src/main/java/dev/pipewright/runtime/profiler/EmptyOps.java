package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingOutcome.Overhead;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.runtime.data.Batch;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.profiler.LayerClock.Rounds;
import dev.pipewright.runtime.profiler.LayerClock.What;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * What it costs to run a layer that does nothing: dispatch, a history's begin and end, and the
 * clock. A stage pays it once for an op, so it is no part of a layer's time.
 */
final class EmptyOps {
  private static final int LAYERS = 9;
  private static final int ROUNDS = 51;
  private static final int WARM_UP = 200;
  private static final int FEATURES = 8;

  private EmptyOps() {}

  static Overhead measure(UpdateRule rule, LongSupplier clock) {
    try (LayerClock layers =
        new LayerClock(new Layers(network(), 1), LossFunction.CROSS_ENTROPY, rule, ROUNDS, clock)) {
      Rounds rounds = layers.measure(EmptyOps::samples, WARM_UP);
      return new Overhead(
          typical(rounds, What.FORWARD),
          typical(rounds, What.BACKWARD),
          typical(rounds, What.INPUT_GRADIENT),
          typical(rounds, What.WEIGHT_GRADIENT));
    }
  }

  private static double typical(Rounds rounds, What what) {
    double[] medians = new double[LAYERS];
    for (int i = 0; i < LAYERS; i++) {
      medians[i] = rounds.spread(what, i + 2).median();
    }
    Arrays.sort(medians);
    return medians[LAYERS / 2];
  }

  private static Batch samples() {
    return new Batch(List.of(Tensor.ones(1, FEATURES)), Tensor.ofWhole(new long[1], 1));
  }

  private static LayerGraph network() {
    List<Layer> layers = new ArrayList<>();
    layers.add(layer("input", new Operator.Input()));
    layers.add(layer("first", new Operator.Linear(FEATURES, FEATURES, true)));
    for (int i = 0; i < LAYERS; i++) {
      layers.add(layer("nothing" + i, new Operator.Elementwise("dropout")));
    }
    layers.add(layer("last", new Operator.Linear(FEATURES, FEATURES, true)));
    return LayerGraph.chain("nothing", layers);
  }

  private static Layer layer(String name, Operator operator) {
    int parameters = operator instanceof Operator.Linear ? FEATURES * (FEATURES + 1) : 0;
    Optional<Shape> shape = Optional.of(Shape.of(FEATURES));
    return new Layer(name, operator, shape, parameters, FEATURES, FEATURES, Work.NONE);
  }
}
