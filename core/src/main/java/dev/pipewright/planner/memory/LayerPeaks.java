package dev.pipewright.planner.memory;

import dev.pipewright.units.Check;

/**
 * mCAP's predictor: a stage needs what its first layer needs alone and what each further layer adds
 * to the ones before it.
 *
 * <p>Source: mCAP's two metrics, as described in CAPTURE, §II: "the (peak) memory usage of the
 * layer when it is the only layer placed on a GPU, and the additional memory usage caused by the
 * layer when it is placed on a GPU together with a set of preceding DNN layers". They hold for the
 * schedule and the batch of the runs that measured them, wherever in the pipeline a stage stands.
 *
 * <p>O(1) for each stage by prefix sums; exact for whole bytes below 2⁵³. A layer may add less than
 * nothing: frameworks free what they no longer need.
 */
public final class LayerPeaks implements StagePeak {
  private final double[] alone;
  private final double[] added;
  private final double[] sums; // index end: what layers 1..end-1 add

  /**
   * Throws, naming the layer, where a metric is missing.
   *
   * @param alone bytes of each layer alone on a device; NaN where it was not measured
   * @param added bytes that each layer adds to those before it; NaN where it was not measured; the
   *     first layer's is not used
   */
  public LayerPeaks(double[] alone, double[] added) {
    Check.that(
        alone.length == added.length && alone.length > 0,
        "both metrics are needed for every layer: alone=%d, added=%d",
        alone.length,
        added.length);
    this.alone = alone.clone();
    this.added = added.clone();
    this.sums = new double[alone.length + 1];
    for (int layer = 0; layer < alone.length; layer++) {
      Check.that(
          alone[layer] >= 0 && alone[layer] < Double.POSITIVE_INFINITY,
          "layer %d has no peak of its own: alone=%s; run a partition that puts it alone on a device",
          layer,
          alone[layer]);
      Check.that(
          layer == 0 || Math.abs(added[layer]) < Double.POSITIVE_INFINITY,
          "layer %d has no added peak: added=%s; run two partitions with a stage that ends before it"
              + " and after it",
          layer,
          added[layer]);
      sums[layer + 1] = sums[layer] + (layer == 0 ? 0 : added[layer]);
    }
  }

  public int layers() {
    return alone.length;
  }

  /** Bytes of a layer alone on a device. */
  public double alone(int layer) {
    return alone[layer];
  }

  /** Bytes that a layer adds to those before it; it is not the first. */
  public double added(int layer) {
    Check.that(layer > 0, "the first layer has none before it: layer=%d", layer);
    return added[layer];
  }

  @Override
  public double bytes(int stage, int first, int end) {
    return alone[first] + (sums[end] - sums[first + 1]);
  }
}
