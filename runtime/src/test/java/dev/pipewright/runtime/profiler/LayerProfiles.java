package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.runtime.data.Batch;
import dev.pipewright.runtime.data.DatasetRequirements;
import dev.pipewright.runtime.data.DatasetSpec;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.training.RunnableModel;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Supplier;

/** The part of a profile that says what layers hold. */
public final class LayerProfiles {
  private static final String DATA = "synthetic";

  /** Peaks of memory do not depend on it. */
  private static final LayerTimes ANY_TIME = new LayerTimes(1, 2, 1, 1, 1);

  private LayerProfiles() {}

  /**
   * Sizes and memory of all layers as {@link Profiler} measures them. Every layer takes the same
   * time. The library must have been started with the kernels that workers use.
   */
  public static Profile withoutTimes(String model, int samples) {
    List<LayerSizes> sizes = sizes(RunnableModel.of(model, OptionalInt.empty()), samples);
    LayersJob job =
        new LayersJob(
            model, OptionalInt.empty(), DATA, List.of(samples), 1, Optimizer.MOMENTUM, true);
    List<List<LayerMemory>> memory = new ArrayList<>();
    new WorkerGroups(1)
        .runFrugal(
            1, NeedsTask.class, job.text(), (worker, text) -> memory.add(NeedsTask.parse(text)));
    return new Profile(
        new Provenance("test", "", "", true),
        Precision.FP32,
        sizes,
        List.of(samples),
        List.of(Collections.nCopies(sizes.size(), ANY_TIME)),
        memory);
  }

  private static List<LayerSizes> sizes(LayerGraph graph, int samples) {
    LossFunction objective = LossFunction.of(graph);
    Supplier<Batch> next =
        LayersTask.reader(
            DatasetSpec.parse(DATA).open(DatasetRequirements.of(graph, objective)).training(),
            samples);
    Layers layers = LayersTask.layers(graph);
    UpdateRule rule = UpdateRule.usual(Optimizer.MOMENTUM, graph);
    try (LayerClock clock = new LayerClock(layers, objective, rule, 1, () -> 0)) {
      long[][] bytes = clock.bytes(next);
      List<LayerSizes> sizes = new ArrayList<>();
      for (int layer = 0; layer < layers.size(); layer++) {
        sizes.add(
            new LayerSizes(
                (double) bytes[0][layer] / samples,
                (double) bytes[1][layer] / samples,
                layers.parameters(layer).stream()
                    .map(Parameter::value)
                    .mapToLong(value -> value.bytes())
                    .sum()));
      }
      return sizes;
    }
  }
}
