package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingOutcome.LayerFigures;
import dev.pipewright.execution.ProfilingOutcome.Overhead;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.runtime.data.Batch;
import dev.pipewright.runtime.data.Dataset;
import dev.pipewright.runtime.data.DatasetRequirements;
import dev.pipewright.runtime.data.DatasetSpec;
import dev.pipewright.runtime.data.Sampler;
import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.profiler.LayerClock.Rounds;
import dev.pipewright.runtime.profiler.LayerClock.What;
import dev.pipewright.runtime.training.RunnableModel;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Measures the layers of a network, one size of batch after the other, on the first of several
 * workers; the others compute as well.
 */
public final class LayersTask implements WorkerTask {
  private static final Spread NONE = new Spread(0, 0, 0);
  private static final int WARM_UP = 3;
  private static final long SEED = 1;

  /** A learning rate so small that measuring does not change the network. */
  private static final double RATE = 1e-9;

  private static final double MOMENTUM = 0.9;

  @Override
  public void run(String text, Transport transport, Reporter reporter) {
    measure(
        LayersJob.parse(text),
        new CoRunningLoad(transport),
        report -> reporter.event(report.text()));
  }

  /** Hears of each size of batch. */
  interface Answer {
    void of(LayersReport report);
  }

  /** Measures in this process. */
  static void measure(LayersJob job, CoRunningLoad coRunning, Answer answer) {
    LongSupplier clock = Clocks.of(job.processorTime());
    LayerGraph graph = RunnableModel.of(job.model(), job.sequence());
    LossFunction objective = LossFunction.of(graph);
    Dataset samples =
        DatasetSpec.parse(job.data()).open(DatasetRequirements.of(graph, objective)).training();
    UpdateRule rule =
        new UpdateRule(
            job.optimizer(), RATE, job.optimizer() == Optimizer.MOMENTUM ? MOMENTUM : 0, 0);
    Overhead overhead = EmptyOps.measure(rule, clock);
    DeviceRates rates = DeviceRates.measure(clock);
    Layers layers = layers(graph);
    try (LayerClock measured = new LayerClock(layers, objective, rule, job.repeats(), clock)) {
      for (int batch : job.batches()) {
        Supplier<Batch> next = reader(samples, batch);
        coRunning.meet();
        if (coRunning.measures()) {
          answer.of(report(layers, measured, next, batch, coRunning.size(), overhead, rates));
          coRunning.dismiss();
        } else {
          coRunning.keep(() -> measured.round(next));
        }
      }
    }
  }

  static Layers layers(LayerGraph graph) {
    try {
      Layers layers = new Layers(graph, SEED);
      for (int layer = 0; layer < layers.size(); layer++) {
        layers.parameters(layer); // which makes it
      }
      return layers;
    } catch (IllegalArgumentException e) {
      throw new BadInputException(e.getMessage() + "; measure another network");
    }
  }

  static Supplier<Batch> reader(Dataset samples, int batch) {
    Sampler sampler = new Sampler(samples.samples(), SEED);
    long[] from = new long[1];
    return () -> samples.read(sampler.numbers(batch * from[0]++, batch));
  }

  private static LayersReport report(
      Layers layers,
      LayerClock measured,
      Supplier<Batch> next,
      int batch,
      int workers,
      Overhead overhead,
      DeviceRates rates) {
    long[][] bytes = measured.bytes(next);
    Rounds rounds = measured.measure(next, WARM_UP);
    List<LayerFigures> figures = new ArrayList<>();
    for (int layer = 0; layer < layers.size(); layer++) {
      Spread backward = rounds.spread(What.BACKWARD, layer);
      figures.add(
          new LayerFigures(
              less(rounds.spread(What.FORWARD, layer), overhead.forward()),
              less(backward, overhead.backward()),
              less(rounds.spread(What.INPUT_GRADIENT, layer), overhead.inputGradient()),
              less(rounds.spread(What.WEIGHT_GRADIENT, layer), overhead.weightGradient()),
              layers.parameters(layer).isEmpty() ? NONE : rounds.spread(What.UPDATE, layer),
              bytes[1][layer],
              bytes[0][layer],
              layers.parameters(layer).stream().mapToLong(each -> each.value().bytes()).sum()));
    }
    return new LayersReport(
        batch,
        workers,
        overhead,
        rates.flops(),
        rates.bytesPerSecond(),
        rounds.reading(),
        rounds.judging(),
        figures);
  }

  private static Spread less(Spread spread, double seconds) {
    return new Spread(
        Math.max(0, spread.least() - seconds),
        Math.max(0, spread.median() - seconds),
        Math.max(0, spread.most() - seconds));
  }
}
