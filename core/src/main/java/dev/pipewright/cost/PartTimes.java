package dev.pipewright.cost;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.profile.Profile.LayerTimes;
import java.util.HashMap;
import java.util.Map;

/**
 * How long a part of a layer takes, where it is known how long the whole takes: as long as the
 * roofline says that the part takes of the whole. Measured layers may take time where the roofline
 * knows of none, such as the one that hands on samples: their parts take as long as the whole.
 */
public final class PartTimes {
  private final LayerGraph graph;
  private final Roofline roofline;
  private final Map<Double, double[]> wholes = new HashMap<>(); // by samples

  public PartTimes(Workload workload) {
    this.graph = workload.chain().graph();
    this.roofline = new Roofline(workload.cluster(), workload.training());
  }

  /**
   * The share of the whole layer's time.
   *
   * @param samples of the slice; fractions allowed
   * @param wholeElements of one sample that the forward pass moves also where only some filters are
   *     computed: as a rule what the layer reads
   */
  public double share(int layer, double samples, PartShares part, double wholeElements) {
    if (part.equals(PartShares.WHOLE)) {
      return 1;
    }
    double all = wholes.computeIfAbsent(samples, this::wholes)[layer];
    return all == 0 ? 1 : seconds(layer, samples, part, wholeElements) / all;
  }

  /** Seconds in which so many elements are read or written. */
  public double moving(double elements) {
    return roofline.moving(elements);
  }

  private double[] wholes(double samples) {
    double[] seconds = new double[graph.size()];
    for (int layer = 0; layer < seconds.length; layer++) {
      seconds[layer] = seconds(layer, samples, PartShares.WHOLE, 0);
    }
    return seconds;
  }

  private double seconds(int layer, double samples, PartShares part, double wholeElements) {
    LayerTimes times = roofline.partTimes(graph.layer(layer), samples, part, wholeElements);
    return times.forward() + times.backward();
  }
}
