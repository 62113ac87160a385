package dev.pipewright.runtime.profiler;

import dev.pipewright.runtime.data.Batch;
import dev.pipewright.runtime.net.ForwardPass;
import dev.pipewright.runtime.net.LossFunction;
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

/**
 * One micro-batch through a network, layer by layer, with a gauge: as the engine runs a stage, but
 * with a history for each layer. So every layer reads what the layers before it have just written,
 * and all that is kept is in memory at the same time.
 */
final class LayerPass implements AutoCloseable {
  private final Layers layers;
  private final Stopwatch stopwatch;
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

  LayerPass(Layers layers, boolean inTwoParts, Stopwatch stopwatch) {
    this.layers = layers;
    this.stopwatch = stopwatch;
    for (int layer = 0; layer < layers.size(); layer++) {
      passed.add(new Passed(ForwardPass.training(inTwoParts, SharedStatistics.OWN)));
    }
  }

  /** Runs one layer of the pass. */
  private interface Step {
    void run(int layer);
  }

  private void gauged(int layer, double[] figures, Step step) {
    figures[layer] = stopwatch.of(() -> step.run(layer));
  }

  /** The forward pass; what each layer took is filled in. */
  void forward(List<Tensor> data, double[] figures) {
    for (int layer : layers.order()) {
      gauged(layer, figures, at -> forward(at, data));
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

  /** Judges the outputs; from there the backward pass begins. Returns what that took. */
  double judge(LossFunction objective, Batch batch) {
    return stopwatch.of(() -> judged(objective, batch));
  }

  private void judged(LossFunction objective, Batch batch) {
    try (Scope scope = new Scope()) {
      Passed end = passed.get(layers.last());
      objective
          .judge(end.outputs, batch.target(), 1.0 / batch.target().extent(0))
          .gradients()
          .forEach(gradient -> end.gradients.add(scope.keep(gradient)));
    }
  }

  /** The whole backward pass. */
  void backward(double[] figures) {
    reversed(figures, this::backward);
  }

  /**
   * A backward pass that frees gradients and outputs as soon as they are used, as between the
   * layers of one history. To that end each layer is followed by a step that passes on a copy of
   * the gradient.
   */
  void backwardFreeing(double[] figures) {
    int[] order = layers.order();
    for (int i = order.length - 1; i >= 0; i--) {
      putStepBehind(passed.get(order[i]));
      gauged(order[i], figures, this::backward);
    }
  }

  private static void putStepBehind(Passed own) {
    if (hasHistory(own)) {
      try (Scope scope = new Scope()) {
        Tensor copy = scope.keep(own.outputs.get(0).times(1));
        own.outputs.forEach(Tensor::close);
        own.outputs = List.of(copy);
      }
    }
  }

  /** The gradients of all inputs, and what those of the parameters need. */
  void backwardInput(double[] figures) {
    reversed(figures, this::backwardInput);
  }

  /** The gradients of all parameters. */
  void backwardWeight(double[] figures) {
    reversed(figures, this::backwardWeight);
  }

  private void reversed(double[] figures, Step step) {
    int[] order = layers.order();
    for (int i = order.length - 1; i >= 0; i--) {
      gauged(order[i], figures, step);
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

  /** The output of each layer. */
  long[] outputBytes() {
    return passed.stream().mapToLong(layer -> layer.outputs.get(0).bytes()).toArray();
  }

  /**
   * What is kept for the backward pass by the layer that made it: a piece of memory that several
   * histories keep counts once. Parameters are not among it, what is noted for a backward pass in
   * two parts is.
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
      Map<Long, Long> kept = new HashMap<>(History.kept(passed.get(layer).outputs));
      passed
          .get(layer)
          .pass
          .noted()
          .forEach(noted -> kept.put(History.memory(noted), noted.bytes()));
      kept.forEach((memory, size) -> {
        if (counted.add(memory)) {
          bytes[makers.getOrDefault(memory, layer)] += size;
        }
      });
    }
    return bytes;
  }

  /** What each layer's gradients of inputs have left for those of its parameters. */
  long[] deferredBytes() {
    long[] bytes = new long[layers.size()];
    Set<Long> counted = new HashSet<>();
    for (int layer : layers.order()) {
      for (Tensor gradient : passed.get(layer).gradientsOfNoted) {
        if (counted.add(History.memory(gradient))) {
          bytes[layer] += gradient.bytes();
        }
      }
    }
    return bytes;
  }

  @Override
  public void close() {
    passed.forEach(Passed::close);
  }
}
