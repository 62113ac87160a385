package dev.pipewright.predict.paradl;

import java.util.List;

/**
 * A network, a layout and a batch: what each device has of each layer.
 *
 * @param shares for each layer
 * @param samples of one group, of the largest where they do not divide
 */
record SplitCase(ParadlNetwork network, Layout layout, List<LayerShare> shares, double samples) {

  static SplitCase of(ParadlNetwork network, Layout layout, long globalBatch) {
    List<LayerShare> shares = new Sharing(network, layout).shares();
    return new SplitCase(
        network, layout, shares, (double) Math.ceilDiv(globalBatch, (long) layout.groups()));
  }

  int size() {
    return network.size();
  }

  Geometry layer(int layer) {
    return network.layer(layer);
  }

  LayerShare share(int layer) {
    return shares.get(layer);
  }

  Strategy.Split split() {
    return layout.strategy().split();
  }

  /** Seconds of a device's part of each layer, forward and backward. */
  double[] seconds() {
    double[] seconds = network.wholeSeconds(samples).clone();
    for (int layer = 0; layer < seconds.length; layer++) {
      LayerShare share = shares.get(layer);
      if (share.split()) {
        seconds[layer] = network.partSeconds(layer, samples, share.part());
      }
    }
    return seconds;
  }

  /** The share of a layer's weights that one device has. */
  double weightShare(int layer) {
    return shares.get(layer).part().weights();
  }

  /** Bytes of the weights that one device has of a layer. */
  double weightBytes(int layer) {
    return network.parameterBytes(layer) * weightShare(layer);
  }

  /**
   * Bytes of a layer's gradients that an all-reduce carries. Where the optimizer's state is
   * sharded, gradients go one way and updated weights come back, each half of an all-reduce.
   */
  double exchangedBytes(int layer) {
    double gradient = network.gradientPerWeight();
    boolean sharded = layout.strategy().zeroStage() > 0;
    return weightBytes(layer) * (sharded ? (1 + gradient) / 2 : gradient);
  }

  /** Bytes of a layer's whole inputs for the samples of a group. */
  double inputBytes(int layer) {
    return samples * layer(layer).inElements() * network.bytesPerElement();
  }

  /** Bytes of a layer's whole output for the samples of a group. */
  double outputBytes(int layer) {
    return samples * layer(layer).outElements() * network.bytesPerElement();
  }
}
