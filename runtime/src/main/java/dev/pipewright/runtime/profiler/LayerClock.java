package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingOutcome.Spread;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.runtime.data.Batch;
import dev.pipewright.runtime.engine.Updates;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Measures all layers of a network again and again. A round is a step of three micro-batches, the
 * last of which has its backward pass in two parts.
 */
final class LayerClock implements AutoCloseable {
  private final Layers layers;
  private final LossFunction objective;
  private final List<Updates> updates; // by layer
  private final int rounds;
  private final LongSupplier clock;

  /** A pass of the backward kind, or another thing that is measured by layer. */
  enum What {
    FORWARD,
    /** A backward pass that adds to gradients. */
    BACKWARD,
    INPUT_GRADIENT,
    WEIGHT_GRADIENT,
    UPDATE
  }

  /** What rounds have shown: seconds by layer of each, and of what is no layer's. */
  record Rounds(List<Map<What, double[]>> seconds, double[] read, double[] judged) {
    Spread spread(What what, int layer) {
      return Spread.of(
          seconds.stream().map(round -> row(round, what)).mapToDouble(row -> row[layer]).toArray());
    }

    double reading() {
      return Spread.of(read).median();
    }

    double judging() {
      return Spread.of(judged).median();
    }
  }

  /**
   * @param clock nanoseconds
   */
  LayerClock(
      Layers layers, LossFunction objective, UpdateRule rule, int rounds, LongSupplier clock) {
    this.layers = layers;
    this.objective = objective;
    this.rounds = rounds;
    this.clock = clock;
    this.updates =
        IntStream.range(0, layers.size())
            .mapToObj(layer -> new Updates(rule, layers.parameters(layer)))
            .toList();
  }

  /** Measures, after a warm-up. */
  Rounds measure(Supplier<Batch> samples, int policy) {
    for (int i = 0; i < policy; i++) {
      round(samples);
    }
    List<Map<What, double[]>> seconds = new ArrayList<>();
    double[] read = new double[rounds];
    double[] judged = new double[rounds];
    for (int i = 0; i < rounds; i++) {
      Map<What, double[]> own = none();
      double[] others = round(samples, own);
      read[i] = others[0];
      judged[i] = others[1];
      seconds.add(own);
    }
    return new Rounds(seconds, read, judged);
  }

  /** Computes what is measured. */
  void round(Supplier<Batch> samples) {
    round(samples, none());
  }

  private Map<What, double[]> none() {
    Map<What, double[]> seconds = new EnumMap<>(What.class);
    for (What what : What.values()) {
      seconds.put(what, new double[layers.size()]);
    }
    return seconds;
  }

  private static double[] row(Map<What, double[]> seconds, What what) {
    return Objects.requireNonNull(seconds.get(what));
  }

  /** Seconds of reading and of judging; those of layers are filled in. */
  private double[] round(Supplier<Batch> samples, Map<What, double[]> seconds) {
    whole(samples, new double[layers.size()], new double[layers.size()]); // adds to no gradients
    double[] others = whole(samples, row(seconds, What.FORWARD), row(seconds, What.BACKWARD));
    inTwoParts(samples, row(seconds, What.INPUT_GRADIENT), row(seconds, What.WEIGHT_GRADIENT));
    update(row(seconds, What.UPDATE));
    return others;
  }

  private double[] whole(Supplier<Batch> samples, double[] forward, double[] backward) {
    long begin = clock.getAsLong();
    Batch batch = read(samples);
    double reading = (clock.getAsLong() - begin) / 1e9;
    try (LayerPass pass = new LayerPass(layers, false, Stopwatch.seconds(clock))) {
      pass.forward(batch.inputs(), forward);
      double judging = pass.judge(objective, batch);
      pass.backward(backward);
      return new double[] {reading, judging};
    } finally {
      close(batch);
    }
  }

  private void inTwoParts(Supplier<Batch> samples, double[] input, double[] weight) {
    Batch batch = read(samples);
    try (LayerPass pass = new LayerPass(layers, true, Stopwatch.seconds(clock))) {
      pass.forward(batch.inputs(), new double[layers.size()]);
      pass.judge(objective, batch);
      pass.backwardInput(input);
      pass.backwardWeight(weight);
    } finally {
      close(batch);
    }
  }

  static Batch read(Supplier<Batch> samples) {
    List<Tensor> inputs = new ArrayList<>();
    try (Scope scope = new Scope()) {
      Batch batch = samples.get();
      batch.inputs().forEach(input -> inputs.add(scope.keep(input)));
      return new Batch(inputs, scope.keep(batch.target()));
    }
  }

  static void close(Batch batch) {
    batch.inputs().forEach(Tensor::close);
    batch.target().close();
  }

  private void update(double[] seconds) {
    for (int layer = 0; layer < seconds.length; layer++) {
      long begin = clock.getAsLong();
      updates.get(layer).apply(layers.parameters(layer));
      seconds[layer] = (clock.getAsLong() - begin) / 1e9;
    }
    for (int layer = 0; layer < layers.size(); layer++) {
      layers.parameters(layer).stream().map(Parameter::value).forEach(Tensor::clearGradient);
    }
  }

  /** Output bytes of each layer and what each keeps, in this order. */
  long[][] bytes(Supplier<Batch> samples) {
    Batch batch = read(samples);
    try (LayerPass pass = new LayerPass(layers, false, Stopwatch.seconds(clock))) {
      pass.forward(batch.inputs(), new double[layers.size()]);
      return new long[][] {pass.outputBytes(), pass.keptBytes()};
    } finally {
      close(batch);
    }
  }

  @Override
  public void close() {
    updates.forEach(Updates::close);
  }
}
