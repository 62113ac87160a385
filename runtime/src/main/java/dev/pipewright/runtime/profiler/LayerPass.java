package dev.pipewright.runtime.profiler;

import dev.pipewright.runtime.data.Batch;
import dev.pipewright.runtime.net.ForwardPass;
import dev.pipewright.runtime.net.Objective;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.net.SharedStatistics;
import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.History;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * One micro-batch through a network, layer by layer, with a clock: as the engine runs a stage, but
 * with a history for each layer. So every layer reads what the layers before it have just written,
 * and all that is kept lies in memory beside it.
 */
final class LayerPass implements AutoCloseable {
  private final Layers layers;
  private final LongSupplier clock;
  private final List<Passed> passed = new ArrayList<>(); // by layer

  /** What a layer holds between its passes. */
  private static final class Passed {
    private final ForwardPass pass;
    private List<Tensor> inputs = List.of();
    private List<Tensor> outputs = List.of();
    private List<Tensor> gradientsOfNoted = List.of();
    private final List<Tensor> gradients = new ArrayList<>(); // of its output, one from each reader

    private Passed(ForwardPass pass) {
      this.pass = pass;
    }

    private void close() {
      inputs.forEach(Tensor::close);
      outputs.forEach(Tensor::close);
      gradientsOfNoted.forEach(Tensor::close);
      gradients.forEach(Tensor::close);
      pass.clear();
      inputs = List.of();
      outputs = List.of();
      gradientsOfNoted = List.of();
      gradients.clear();
    }
  }

  /**
   * @param clock nanoseconds
   */
  LayerPass(Layers layers, boolean inTwoParts, LongSupplier clock) {
    this.layers = layers;
    this.clock = clock;
    for (int layer = 0; layer < layers.size(); layer++) {
      passed.add(new Passed(ForwardPass.training(inTwoParts, SharedStatistics.OWN)));
    }
  }

  /** Runs one layer of the pass. */
  private interface Step {
    void run(int layer);
  }

  private void timed(int layer, double[] seconds, Step step) {
    long begin = clock.getAsLong();
    step.run(layer);
    seconds[layer] = (clock.getAsLong() - begin) / 1e9;
  }

  /** The forward pass; the seconds of each layer are filled in. */
  void forward(List<Tensor> data, double[] seconds) {
    for (int layer : layers.order()) {
      timed(layer, seconds, at -> forward(at, data));
    }
  }

  private void forward(int layer, List<Tensor> data) {
    Passed own = passed.get(layer);
    Part part = layers.part(layer);
    int[] read = layers.read(layer);
    List<Tensor> leaves = new ArrayList<>(read.length);
    List<Tensor> kept = new ArrayList<>(1);
    try (Scope scope = new Scope()) {
      for (int i = 0; i < read.length; i++) {
        Tensor leaf = scope.keep(passed.get(read[i]).outputs.get(0).detached());
        leaves.add(part.inputNeedsGradient(i) ? leaf.withGradient() : leaf);
      }
      part.forward(leaves, data, own.pass).forEach(output -> kept.add(output.shared()));
    }
    own.inputs = leaves;
    own.outputs = kept;
  }

  /** Judges the outputs; from there the backward pass begins. Returns the seconds it took. */
  double judge(Objective objective, Batch batch) {
    long begin = clock.getAsLong();
    try (Scope scope = new Scope()) {
      Passed end = passed.get(layers.last());
      objective
          .judge(end.outputs, batch.target(), 1.0 / batch.target().extent(0))
          .gradients()
          .forEach(gradient -> end.gradients.add(scope.keep(gradient)));
    }
    return (clock.getAsLong() - begin) / 1e9;
  }

  /** The whole backward pass. */
  void backward(double[] seconds) {
    reversed(seconds, this::backward);
  }

  /** The gradients of all inputs, and what those of the parameters need. */
  void backwardInput(double[] seconds) {
    reversed(seconds, this::backwardInput);
  }

  /** The gradients of all parameters. */
  void backwardWeight(double[] seconds) {
    reversed(seconds, this::backwardWeight);
  }

  private void reversed(double[] seconds, Step step) {
    int[] order = layers.order();
    for (int i = order.length - 1; i >= 0; i--) {
      timed(order[i], seconds, step);
    }
  }

  private void backward(int layer) {
    Passed own = passed.get(layer);
    if (hasHistory(own)) {
      try (Scope scope = new Scope()) {
        Gradients.add(own.outputs, List.of(sum(own.gradients)));
        handBack(layer, own.inputs.stream().map(Tensor::gradient).toList(), scope);
      }
    }
    own.close();
  }

  private static boolean hasHistory(Passed own) {
    return !own.gradients.isEmpty() && own.outputs.get(0).hasGradient();
  }

  private static Tensor sum(List<Tensor> gradients) {
    Tensor sum = gradients.get(0);
    for (Tensor next : gradients.subList(1, gradients.size())) {
      sum = sum.plus(next);
    }
    return sum;
  }

  private void handBack(int layer, List<Optional<Tensor>> gradients, Scope scope) {
    int[] read = layers.read(layer);
    for (int i = 0; i < read.length; i++) {
      if (gradients.get(i).isPresent()) {
        passed.get(read[i]).gradients.add(scope.keep(gradients.get(i).get()));
      }
    }
  }

  private void backwardInput(int layer) {
    Passed own = passed.get(layer);
    if (!hasHistory(own)) {
      return;
    }
    List<Tensor> wanted = new ArrayList<>(own.inputs.stream().filter(Tensor::hasGradient).toList());
    int inputs = wanted.size();
    wanted.addAll(own.pass.noted());
    if (wanted.isEmpty()) {
      return;
    }
    try (Scope scope = new Scope()) {
      List<Tensor> found = Gradients.of(own.outputs, List.of(sum(own.gradients)), wanted, true);
      List<Optional<Tensor>> before = new ArrayList<>();
      int next = 0;
      for (Tensor input : own.inputs) {
        before.add(input.hasGradient() ? Optional.of(found.get(next++)) : Optional.empty());
      }
      handBack(layer, before, scope);
      own.gradientsOfNoted = found.subList(inputs, found.size()).stream().map(scope::keep).toList();
    }
  }

  private void backwardWeight(int layer) {
    Passed own = passed.get(layer);
    if (!own.gradientsOfNoted.isEmpty()) {
      try (Scope scope = new Scope()) {
        own.pass.addWeightGradients(own.gradientsOfNoted);
      }
    }
    own.close();
  }

  /** What a layer hands on, in bytes. */
  long outputBytes(int layer) {
    return passed.get(layer).outputs.get(0).bytes();
  }

  /**
   * What is kept for the backward pass by the layer that made it: a piece of memory that several
   * histories keep counts once. Parameters are not among it.
   */
  long[] keptBytes() {
    Map<Long, Integer> makers = new HashMap<>(); // by piece of memory
    Set<Long> parameters = new HashSet<>();
    for (int layer : layers.order()) {
      layers.parameters(layer).forEach(each -> parameters.add(History.memory(each.value())));
      layers.averages(layer).forEach(each -> parameters.add(History.memory(each.value())));
      makers.putIfAbsent(History.memory(passed.get(layer).outputs.get(0)), layer);
    }
    long[] bytes = new long[layers.size()];
    Set<Long> counted = new HashSet<>(parameters);
    for (int layer : layers.order()) {
      History.kept(passed.get(layer).outputs)
          .forEach((memory, size) -> {
            if (counted.add(memory)) {
              bytes[makers.getOrDefault(memory, layer)] += size;
            }
          });
    }
    return bytes;
  }

  @Override
  public void close() {
    passed.forEach(Passed::close);
  }
}
