package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingOutcome.LayerFigures;
import dev.pipewright.execution.ProfilingOutcome.PassSeconds;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import dev.pipewright.execution.ProfilingRequest;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.units.Precision;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * What planners read of a measurement.
 *
 * <p>Reading samples counts with the first layer, judging outputs with the last.
 *
 * <p>Layers that are measured one by one find other things in the processor's caches than in a
 * step. So whole steps are measured, too, and all forward passes are stretched to what those of
 * micro-batches after the first take there, and all backward passes, and both parts of those that
 * are split. What is left of a step comes once in it like the update and counts with that: the
 * first forward pass finds parameters that have just been written, the first backward pass has no
 * gradients to add to.
 */
final class MeasuredProfile {
  /** Micro-batches of the step that the sum of all layers is held against. */
  static final int MICRO_BATCHES = 4;

  private final ProfilingRequest request;
  private final LayerGraph graph;
  private final LayersReport smallest;
  private final Profile profile;

  MeasuredProfile(
      ProfilingRequest request,
      LayerGraph graph,
      List<LayersReport> reports,
      List<WholeStep> steps,
      List<List<LayerMemory>> memory) {
    this.request = request;
    this.graph = graph;
    this.smallest = reports.get(0);
    this.profile =
        new Profile(
            provenance(),
            Precision.FP32,
            sizes(reports.get(reports.size() - 1)),
            request.batches(),
            IntStream.range(0, reports.size())
                .mapToObj(i -> times(reports.get(i), steps.get(i), once(steps)))
                .toList(),
            memory);
  }

  private Provenance provenance() {
    return new Provenance(
        "%s, libtorch %s, %s".formatted(request.command(), Torch.version(), threads()),
        device(request),
        LocalDate.now(ZoneId.systemDefault()).toString(),
        true);
  }

  private String threads() {
    return request.threads() == 1 ? "1 thread" : request.threads() + " threads";
  }

  /** What profile and cluster call what was measured. */
  static String device(ProfilingRequest request) {
    String processor = Machine.processor();
    return request.threads() == 1 ? processor : processor + " × " + request.threads();
  }

  /** What is kept is what the largest batch keeps, divided by its samples. */
  private static List<LayerSizes> sizes(LayersReport report) {
    double samples = report.samples();
    return report.layers().stream()
        .map(layer ->
            new LayerSizes(
                layer.outputBytes() / samples, layer.keptBytes() / samples, layer.parameterBytes()))
        .toList();
  }

  /**
   * Seconds of what comes once in a step. That is the same whatever the batch, and little against
   * the passes that it is what is left of: the batch in the middle shows it best.
   */
  private static double once(List<WholeStep> steps) {
    double[] seconds =
        steps.stream().mapToDouble(step -> step.ops().update() + step.ops().rest()).toArray();
    return Math.max(0, Spread.of(seconds).median());
  }

  /**
   * @param once seconds of what comes once in a step
   */
  private List<LayerTimes> times(LayersReport report, WholeStep step, double once) {
    List<LayerTimes> single = times(report);
    if (request.processorTime()) { // which whole steps do not tell
      return single;
    }
    PassSeconds ops = step.ops();
    return stretched(
        single,
        new LayerTimes(
            ratio(ops.forward(), sum(single, LayerTimes::forward)),
            ratio(ops.backward(), sum(single, LayerTimes::backward)),
            ratio(ops.inputGradient(), sum(single, LayerTimes::inputGradient)),
            ratio(ops.weightGradient(), sum(single, LayerTimes::weightGradient)),
            ratio(once, sum(single, LayerTimes::update))));
  }

  /** The factor of stretching; 1 where there is nothing to stretch. */
  private static double ratio(double whole, double sum) {
    return sum == 0 ? 1 : whole / sum;
  }

  private static List<LayerTimes> stretched(List<LayerTimes> layers, LayerTimes by) {
    return layers.stream()
        .map(layer ->
            new LayerTimes(
                layer.forward() * by.forward(),
                layer.backward() * by.backward(),
                layer.inputGradient() * by.inputGradient(),
                layer.weightGradient() * by.weightGradient(),
                layer.update() * by.update()))
        .toList();
  }

  private static double sum(List<LayerTimes> layers, ToDoubleFunction<LayerTimes> of) {
    return layers.stream().mapToDouble(of).sum();
  }

  /** Times as the layers were measured, with whole updates. */
  private List<LayerTimes> times(LayersReport report) {
    int[] order = graph.topological();
    List<LayerTimes> times = new ArrayList<>();
    for (int layer = 0; layer < report.layers().size(); layer++) {
      LayerFigures figures = report.layers().get(layer);
      double forward = figures.forward().median();
      forward += layer == order[0] ? report.readSeconds() : 0;
      forward += layer == order[order.length - 1] ? report.lossSeconds() : 0;
      times.add(
          new LayerTimes(
              forward,
              figures.backward().median(),
              figures.inputGradient().median(),
              figures.weightGradient().median(),
              figures.update().median()));
    }
    return times;
  }

  LayerGraph graph() {
    return graph;
  }

  Profile profile() {
    return profile;
  }

  /**
   * A step of {@link #MICRO_BATCHES} on one worker by the sum of all layers, as measured. Updates
   * are those of the smallest batch, as in the profile.
   */
  double summedSeconds(LayersReport report) {
    List<LayerTimes> single = times(report);
    return MICRO_BATCHES * (sum(single, LayerTimes::forward) + sum(single, LayerTimes::backward))
        + sum(times(smallest), LayerTimes::update);
  }
}
