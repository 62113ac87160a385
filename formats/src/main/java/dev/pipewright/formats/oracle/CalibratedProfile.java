package dev.pipewright.formats.oracle;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Training;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.TokenPrediction;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.predict.transformer.Framework;
import dev.pipewright.predict.transformer.GpuMachine;
import dev.pipewright.predict.transformer.RecomputePolicy;
import dev.pipewright.predict.transformer.RunChoices;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TrainingPrecision;
import dev.pipewright.predict.transformer.TransformerLayers;
import dev.pipewright.predict.transformer.TransformerLayers.Passes;
import dev.pipewright.profile.DividedLayers;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.List;
import java.util.Optional;

/**
 * Layers of a decoder that were not measured, by the calibrated constants of the cluster's machine:
 * what a stated layout's layers take, too.
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
      List<List<LayerTimes>> times =
          samples.stream()
              .map(slice -> times(graph, fused, new Ranks(1, 1, false, 1), slice))
              .toList();
      String source =
          "exchanges from latencies and bandwidths that the cluster states, layers from constants calibrated for "
              + framework.word();
      Profile whole =
          new Profile(
              new Provenance(source, machine.name(), "", false),
              training.precision(),
              sizes(graph),
              samples,
              times);
      return Optional.of(
          whole.with(new Parts(graph, fused, 1, layers(fused, new Ranks(1, 1, false, 1), 1))));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /**
   * Who divides layers: context-parallel ranks of tensor-parallel ones.
   *
   * @param owners of whole experts; 1 where tensor-parallel ranks divide each
   */
  private record Ranks(int tensor, int context, boolean sequence, int owners) {}

  /** The layers of such ranks. */
  private final class Parts implements DividedLayers {
    private final LayerGraph graph;
    private final boolean fused;
    private final int context;
    private final TransformerLayers one;

    private Parts(LayerGraph graph, boolean fused, int context, TransformerLayers one) {
      this.graph = graph;
      this.fused = fused;
      this.context = context;
      this.one = one;
    }

    @Override
    public Optional<List<LayerTimes>> times(int parts, boolean sequence, int owners, int samples) {
      try {
        Ranks ranks = new Ranks(parts, context, sequence, owners);
        return Optional.of(CalibratedProfile.this.times(graph, fused, ranks, samples));
      } catch (IllegalArgumentException e) {
        return Optional.empty(); // heads that so many ranks cannot share alike
      }
    }

    @Override
    public DividedLayers ofContext(int ranks) {
      return new Parts(graph, fused, context * ranks, one);
    }

    @Override
    public double exposedForward() {
      return one.exposedForward();
    }

    @Override
    public double exposedBackward() {
      return one.exposedBackward();
    }
  }

  private List<LayerTimes> times(LayerGraph graph, boolean fused, Ranks ranks, int slice) {
    TransformerLayers layers = layers(fused, ranks, slice);
    int losses = 1 + shape.prediction().map(TokenPrediction::depth).orElse(0);
    return graph.layers().stream().map(layer -> times(layer, layers, losses)).toList();
  }

  private TransformerLayers layers(boolean fused, Ranks ranks, int slice) {
    int tensor = ranks.tensor();
    boolean whole = ranks.owners() > 1; // experts
    int copies = whole ? ranks.owners() / tensor : 1;
    TrainingLayout group =
        new TrainingLayout(
            tensor,
            1,
            copies,
            ranks.context(),
            1,
            ranks.owners(),
            whole ? 1 : tensor,
            0,
            1,
            false,
            ranks.sequence(),
            copies * slice,
            slice);
    RunChoices choices =
        new RunChoices(
            shape,
            machine,
            framework,
            group,
            Optional.empty(),
            training.precision() == Precision.FP16
                ? TrainingPrecision.FP16
                : TrainingPrecision.BF16,
            fused,
            new RecomputePolicy.None(),
            Optional.empty(),
            0,
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

  /**
   * Of a layer.
   *
   * @param losses for each token that a head computes: more than one with multi-token prediction
   */
  private static LayerTimes times(Layer layer, TransformerLayers layers, int losses) {
    Passes passes =
        switch (layer.operator()) {
          case Operator.ShapedBlock block ->
              block.shape().feedForward() instanceof Mixture ? layers.mixture() : layers.dense();
          case Operator.TransformerBlock block -> layers.dense();
          case Operator.Embedding table -> layers.embedding();
          default -> layers.head();
        };
    boolean block =
        layer.operator() instanceof Operator.ShapedBlock
            || layer.operator() instanceof Operator.TransformerBlock;
    int times = block || layer.operator() instanceof Operator.Embedding ? 1 : losses;
    return new LayerTimes(
        times * passes.forward(),
        times * passes.backward(),
        times * passes.weightGradient(),
        layer.parameters() * layers.updateSeconds());
  }
}
