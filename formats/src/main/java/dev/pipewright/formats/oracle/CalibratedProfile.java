package dev.pipewright.formats.oracle;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Training;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.Framework;
import dev.pipewright.predict.transformer.GpuMachine;
import dev.pipewright.predict.transformer.RecomputePolicy;
import dev.pipewright.predict.transformer.RunChoices;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TrainingPrecision;
import dev.pipewright.predict.transformer.TransformerLayers;
import dev.pipewright.predict.transformer.TransformerLayers.Passes;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The profile of a transformer whose layers nobody has measured, by the calibrated constants of the
 * cluster's machine: what a stated layout's layers take, too.
 */
public final class CalibratedProfile {
  private CalibratedProfile() {}

  /**
   * The profile of a graph of shaped blocks; empty where the devices have no sheet, the precision
   * has more than 16 bits, or the formulas do not cover the network.
   *
   * @param samples slice sizes, ascending
   */
  public static Optional<Profile> of(
      LayerGraph graph,
      TransformerShape shape,
      Cluster cluster,
      Training training,
      List<Integer> samples) {
    boolean shaped =
        graph.layers().stream().anyMatch(l -> l.operator() instanceof Operator.ShapedBlock);
    boolean half = training.precision() == Precision.BF16 || training.precision() == Precision.FP16;
    if (!shaped || !half) {
      return Optional.empty();
    }
    MachineSheets sheets = MachineSheets.read();
    Optional<GpuMachine> machine = sheets.of(cluster);
    return machine.flatMap(found -> {
      try {
        return Optional.of(
            profile(graph, shape, found, sheets.usualFramework(cluster), training, samples));
      } catch (IllegalArgumentException e) {
        return Optional.empty(); // attention or perceptrons that differ between layers
      }
    });
  }

  private static Profile profile(
      LayerGraph graph,
      TransformerShape shape,
      GpuMachine machine,
      Framework framework,
      Training training,
      List<Integer> samples) {
    CalibratedConstants constants = CalibratedConstantsJson.read();
    TrainingPrecision precision =
        training.precision() == Precision.FP16 ? TrainingPrecision.FP16 : TrainingPrecision.BF16;
    List<List<LayerTimes>> times = new ArrayList<>();
    for (int slice : samples) {
      TrainingLayout alone = new TrainingLayout(1, 1, 1, 1, 1, 1, 1, 0, 1, false, slice, slice);
      RunChoices choices =
          new RunChoices(
              shape.withSequence(shape.usualSequence()),
              machine,
              framework,
              alone,
              Optional.empty(),
              precision,
              true,
              new RecomputePolicy.None(),
              0);
      TransformerLayers layers = TransformerLayers.of(choices.run(), constants);
      times.add(graph.layers().stream().map(layer -> times(layer, layers)).toList());
    }
    double bytes = training.precision().bytes();
    List<LayerSizes> sizes =
        graph.layers().stream()
            .map(layer ->
                new LayerSizes(
                    layer.outputElements() * bytes,
                    layer.keptElements() * bytes,
                    layer.parameters() * bytes))
            .toList();
    String source = "constants calibrated for " + framework.word();
    Provenance provenance = new Provenance(source, machine.name(), "", false);
    return new Profile(provenance, training.precision(), sizes, samples, times);
  }

  private static LayerTimes times(Layer layer, TransformerLayers layers) {
    Passes passes =
        switch (layer.operator()) {
          case Operator.ShapedBlock block ->
              block.shape().feedForward() instanceof Mixture ? layers.mixture() : layers.dense();
          case Operator.Embedding table -> layers.embedding();
          default -> layers.head();
        };
    return new LayerTimes(
        passes.forward(),
        passes.backward(),
        passes.weightGradient(),
        layer.parameters() * layers.updateSeconds());
  }
}
