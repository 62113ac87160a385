package dev.pipewright.predict.paradl;

import dev.pipewright.predict.paradl.Strategy.Split;

/** Bytes of a device that works on all layers: its parts of them, and what is alive at once. */
final class SplitMemory {
  private SplitMemory() {}

  static MemoryUse of(SplitCase split) {
    ParadlNetwork network = split.network();
    double[] kept = new double[split.size()];
    double[] output = new double[split.size()];
    double parameters = 0;
    double gathered = 0;
    double largest = 0;
    for (int layer = 0; layer < split.size(); layer++) {
      LayerShare share = split.share(layer);
      double samples = split.samples() * share.part().positions();
      parameters += split.weightBytes(layer);
      kept[layer] = network.shapes().keptBytes(layer) * samples;
      output[layer] = network.shapes().outputBytes(layer) * samples;
      largest = Math.max(largest, network.parameterBytes(layer));
      if (share.split() && split.split() != Split.POSITIONS) {
        gathered = Math.max(gathered, output[layer]); // the parts, beside what they are joined to
      }
    }
    int zero = split.layout().strategy().zeroStage();
    double shard = split.layout().groups();
    double gradients = parameters * network.gradientPerWeight();
    double whole = largest * (1 + network.gradientPerWeight());
    double atWork = zero == 3 ? whole : 0; // a whole layer's weights and gradients
    return new MemoryUse(
        parameters / (zero >= 3 ? shard : 1),
        gradients / (zero >= 2 ? shard : 1),
        parameters * network.momentsPerWeight() / (zero >= 1 ? shard : 1),
        Liveness.peakBytes(network.graph(), kept, output),
        gathered + atWork);
  }
}
