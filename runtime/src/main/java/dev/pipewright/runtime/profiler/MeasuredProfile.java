package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingOutcome.LayerFigures;
import dev.pipewright.execution.ProfilingRequest;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.profile.Provenance;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.units.Precision;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What planners read of a measurement.
 *
 * <p>A backward pass adds its gradients to those of the micro-batches before; only the first of a
 * step has none to add to. The time that it saves is taken off the update, of which there is one in
 * a step, too. Reading samples counts with the first layer, judging outputs with the last. A
 * backward pass in two parts takes longer than the whole one, so its parts' shares are taken.
 */
final class MeasuredProfile {
  private final ProfilingRequest request;
  private final LayerGraph graph;
  private final Profile profile;

  MeasuredProfile(
      ProfilingRequest request,
      LayerGraph graph,
      List<LayersReport> reports,
      List<List<LayerMemory>> memory) {
    this.request = request;
    this.graph = graph;
    this.profile =
        new Profile(
            provenance(),
            Precision.FP32,
            sizes(reports.get(reports.size() - 1)),
            request.batches(),
            reports.stream().map(this::times).toList(),
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

  private List<LayerTimes> times(LayersReport report) {
    int[] order = graph.topological();
    double updates = report.layers().stream().mapToDouble(layer -> layer.update().median()).sum();
    double left = updates == 0 ? 0 : Math.max(0, 1 - report.addedSeconds() / updates);
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
              figures.backward().median() * share(figures),
              figures.update().median() * left));
    }
    return times;
  }

  /** The second part of the backward pass as a share of both. */
  private static double share(LayerFigures figures) {
    double weight = figures.weightGradient().median();
    double both = figures.inputGradient().median() + weight;
    return both == 0 ? 0 : weight / both;
  }

  LayerGraph graph() {
    return graph;
  }

  Profile profile() {
    return profile;
  }

  /** A step on one worker by the sum of all layers. */
  double stepSeconds(int samples, int microBatches) {
    return microBatches * (sum(Quantity.FORWARD, samples) + sum(Quantity.BACKWARD, samples))
        + sum(Quantity.UPDATE, samples);
  }

  private double sum(Quantity quantity, int samples) {
    return Arrays.stream(profile.seconds(quantity, samples)).sum();
  }
}
