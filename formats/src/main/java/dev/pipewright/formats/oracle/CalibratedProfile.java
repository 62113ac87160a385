package dev.pipewright.formats.oracle;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Training;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.TransformerShape;
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
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Layers of a decoder that nobody has measured, by the calibrated constants of the cluster's
 * machine: what a stated layout's layers take, too.
 */
public final class CalibratedProfile {
  private final TransformerShape shape;
  private final GpuMachine machine;
  private final Framework framework;
  private final Training training;

  private CalibratedProfile(
      TransformerShape shape, GpuMachine machine, Framework framework, Training training) {
    this.shape = shape;
    this.machine = machine;
    this.framework = framework;
    this.training = training;
  }

  /**
   * The layers of a network; empty where it is no decoder, the devices have no data sheet or no
   * bfloat16 (fused attention needs it, too), or the precision has more than 16 bits.
   *
   * @param shape with the sequences that it is trained on
   */
  public static Optional<CalibratedProfile> of(
      TransformerShape shape, Cluster cluster, Training training) {
    boolean half = training.precision() == Precision.BF16 || training.precision() == Precision.FP16;
    boolean modern = cluster.devices().stream().allMatch(kind -> kind.computes(Precision.BF16));
    if (!half || !modern || !shape.stack().causal()) {
      return Optional.empty();
    }
    MachineSheets sheets = MachineSheets.read();
    return sheets
        .of(cluster)
        .map(machine ->
            new CalibratedProfile(shape, machine, sheets.usualFramework(cluster), training));
  }

  /** The network's layers: those whose attention keeps no scores where the framework fuses it. */
  public LayerGraph graph(ZooModel zoo) {
    return framework.fusesAttention()
        ? Models.fused(zoo.name(), shape, zoo.source()).map(ZooModel::graph).orElse(zoo.graph())
        : zoo.graph();
  }

  /**
   * The profile of such a graph; empty where the formulas do not cover the network: attention or
   * perceptrons that differ between layers.
   *
   * @param samples slice sizes, ascending
   */
  public Optional<Profile> profile(LayerGraph graph, List<Integer> samples) {
    boolean fused =
        graph.layers().stream().anyMatch(l -> l.operator() instanceof Operator.ShapedBlock);
    try {
      List<List<LayerTimes>> times = new ArrayList<>();
      for (int slice : samples) {
        TransformerLayers layers = layers(slice, fused);
        times.add(graph.layers().stream().map(layer -> times(layer, layers)).toList());
      }
      String source = "constants calibrated for " + framework.word();
      return Optional.of(
          new Profile(
              new Provenance(source, machine.name(), "", false),
              training.precision(),
              sizes(graph),
              samples,
              times));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private TransformerLayers layers(int slice, boolean fused) {
    TrainingLayout alone = new TrainingLayout(1, 1, 1, 1, 1, 1, 1, 0, 1, false, slice, slice);
    RunChoices choices =
        new RunChoices(
            shape,
            machine,
            framework,
            alone,
            Optional.empty(),
            training.precision() == Precision.FP16
                ? TrainingPrecision.FP16
                : TrainingPrecision.BF16,
            fused,
            new RecomputePolicy.None(),
            0);
    return TransformerLayers.of(choices.run(), CalibratedConstantsJson.read());
  }

  private List<LayerSizes> sizes(LayerGraph graph) {
    double bytes = training.precision().bytes();
    return graph.layers().stream()
        .map(layer ->
            new LayerSizes(
                layer.outputElements() * bytes,
                layer.keptElements() * bytes,
                layer.parameters() * bytes))
        .toList();
  }

  private static LayerTimes times(Layer layer, TransformerLayers layers) {
    Passes passes =
        switch (layer.operator()) {
          case Operator.ShapedBlock block ->
              block.shape().feedForward() instanceof Mixture ? layers.mixture() : layers.dense();
          case Operator.TransformerBlock block -> layers.dense();
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
