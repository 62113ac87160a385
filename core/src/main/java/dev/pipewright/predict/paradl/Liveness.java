package dev.pipewright.predict.paradl;

import dev.pipewright.model.LayerGraph;

/**
 * The most bytes of activations and of their gradients that are alive at once in one iteration:
 * what replaces ParaDL's factor γ where the network's shapes are known.
 *
 * <p>Forward, a layer's output lives until its last reader has run, or until the backward pass
 * where it is kept. Backward, in reverse order, the gradient of an output is born with its last
 * reader's backward pass and dies with its own layer's, and so does what that layer kept. O(layers
 * + edges).
 */
final class Liveness {
  private Liveness() {}

  /**
   * @param kept bytes that each layer keeps for its backward pass
   * @param output bytes of each layer's output
   */
  static double peakBytes(LayerGraph graph, double[] kept, double[] output) {
    return Math.max(forwardPeak(graph, kept, output), backwardPeak(graph, kept, output));
  }

  private static double forwardPeak(LayerGraph graph, double[] kept, double[] output) {
    int[] readers = new int[graph.size()];
    double held = 0;
    double transients = 0;
    double peak = 0;
    for (int layer : graph.topological()) {
      held += kept[layer];
      transients += transientBytes(kept, output, layer);
      peak = Math.max(peak, held + transients);
      for (int from : graph.predecessors(layer)) {
        if (++readers[from] == graph.successors(from).length) {
          transients -= transientBytes(kept, output, from);
        }
      }
    }
    return peak;
  }

  /** The part of an output that is not kept anyway. */
  private static double transientBytes(double[] kept, double[] output, int layer) {
    return Math.max(0, output[layer] - kept[layer]);
  }

  private static double backwardPeak(LayerGraph graph, double[] kept, double[] output) {
    int[] order = graph.topological();
    boolean[] born = new boolean[graph.size()];
    double held = 0;
    for (double bytes : kept) {
      held += bytes;
    }
    double gradients = 0;
    double peak = 0;
    for (int i = order.length - 1; i >= 0; i--) {
      int layer = order[i];
      if (!born[layer]) { // the loss: nobody reads it
        gradients += output[layer];
      }
      for (int from : graph.predecessors(layer)) {
        if (!born[from]) {
          born[from] = true;
          gradients += graph.predecessors(from).length == 0 ? 0 : output[from]; // not of the input
        }
      }
      peak = Math.max(peak, held + gradients);
      held -= kept[layer];
      boolean input = graph.predecessors(layer).length == 0 && graph.successors(layer).length > 0;
      gradients -= input ? 0 : output[layer];
    }
    return peak;
  }
}
