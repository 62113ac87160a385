package dev.pipewright.planner.placement;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.planner.placement.OperatorGraph.Devices;
import dev.pipewright.planner.placement.OperatorGraph.Edge;
import dev.pipewright.planner.placement.OperatorGraph.Operator;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * The operator graph of a network of layers, in seconds and bytes, as the training graphs of
 * Tarnawski et al., NeurIPS 2020, §5 are made from layers: each layer's backward pass is an
 * operator of the same colour, and the backward pass's edges are the forward pass's turned round.
 * What passes along an edge there is the gradient of what passed along it before.
 */
public final class TrainingGraph {
  private final LayerGraph graph;
  private final Profile profile;
  private final int samples;
  private final double bytesPerSecond;
  private final double slowdown;

  private TrainingGraph(
      LayerGraph graph, Profile profile, int samples, double bytesPerSecond, double slowdown) {
    Check.that(
        graph.size() == profile.layers(),
        "a profile describes each layer: layers=%d, profiled=%d",
        graph.size(),
        profile.layers());
    Check.that(samples >= 1, "samples of a batch: samples=%d", samples);
    this.graph = graph;
    this.profile = profile;
    this.samples = samples;
    this.bytesPerSecond = Check.positive(bytesPerSecond, "bytes per second");
    this.slowdown = Check.positive(slowdown, "slowdown");
  }

  /**
   * Forward and backward pass.
   *
   * @param samples of the batch that passes
   * @param bytesPerSecond between an accelerator and the host
   * @param slowdown how many times longer a processor takes than an accelerator
   */
  public static OperatorGraph training(
      LayerGraph graph,
      Profile profile,
      Devices devices,
      int samples,
      double bytesPerSecond,
      double slowdown) {
    return new TrainingGraph(graph, profile, samples, bytesPerSecond, slowdown).of(devices, true);
  }

  /** The forward pass alone; otherwise like {@link #training}. */
  public static OperatorGraph inference(
      LayerGraph graph,
      Profile profile,
      Devices devices,
      int samples,
      double bytesPerSecond,
      double slowdown) {
    return new TrainingGraph(graph, profile, samples, bytesPerSecond, slowdown).of(devices, false);
  }

  private OperatorGraph of(Devices devices, boolean backward) {
    int layers = graph.size();
    double[] forwardSeconds = profile.seconds(Quantity.FORWARD, samples);
    double[] backwardSeconds = profile.seconds(Quantity.BACKWARD, samples);
    List<Operator> operators = new ArrayList<>();
    for (int layer = 0; layer < layers; layer++) {
      operators.add(operator(layer, forwardSeconds[layer], output(layer), false));
    }
    List<Edge> edges = new ArrayList<>();
    for (LayerGraph.Edge edge : graph.edges()) {
      edges.add(new Edge(edge.from(), edge.to()));
    }
    if (backward) {
      for (int layer = 0; layer < layers; layer++) {
        operators.add(operator(layer, backwardSeconds[layer], gradient(layer), true));
        edges.add(new Edge(layer, layers + layer));
      }
      for (LayerGraph.Edge edge : graph.edges()) {
        edges.add(new Edge(layers + edge.to(), layers + edge.from()));
      }
    }
    return new OperatorGraph(graph.name(), devices, operators, edges);
  }

  private double output(int layer) {
    return profile.sizes(layer).output() * samples;
  }

  /** Gradients of all that the layer reads: one transfer takes them together. */
  private double gradient(int layer) {
    double bytes = 0;
    for (int predecessor : graph.predecessors(layer)) {
      bytes += output(predecessor);
    }
    return bytes;
  }

  /** Weights with the forward pass, gradients of them with the backward pass. */
  private Operator operator(int layer, double seconds, double passed, boolean backward) {
    LayerSizes sizes = profile.sizes(layer);
    return new Operator(
        backward ? graph.size() + layer : layer,
        graph.layer(layer).name() + (backward ? " gradient" : ""),
        true,
        seconds * slowdown,
        seconds,
        passed / bytesPerSecond,
        sizes.parameters() + sizes.kept() * samples * (backward ? 0 : 1),
        backward,
        OptionalLong.of(layer));
  }
}
