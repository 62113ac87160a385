package dev.pipewright.cost;

import dev.pipewright.units.Check;

/**
 * What the layers of a chain cost one micro-batch, layer by layer.
 *
 * @param forward seconds of a layer's forward pass
 * @param backward seconds of its backward pass
 * @param kept bytes that its backward pass needs of its forward pass, beyond its input
 * @param input bytes of the activation that it reads; the first layer's comes from outside
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record LayerCosts(double[] forward, double[] backward, double[] kept, double[] input) {
  public LayerCosts {
    Check.that(
        forward.length == backward.length
            && forward.length == kept.length
            && forward.length == input.length,
        "every layer needs all figures: forward=%d, backward=%d, kept=%d, input=%d",
        forward.length,
        backward.length,
        kept.length,
        input.length);
    Check.that(forward.length >= 1, "a chain has layers: layers=%d", forward.length);
    for (double[] figures : new double[][] {forward, backward, kept, input}) {
      for (double figure : figures) {
        Check.that(figure >= 0 && figure < 1e300, "figures are not negative: %s", figure);
      }
    }
  }

  /** How many layers there are. */
  public int size() {
    return forward.length;
  }

  /** Seconds of all forward passes from layer {@code first} to {@code last}. */
  public double forwardSeconds(int first, int last) {
    double sum = 0;
    for (int layer = first; layer <= last; layer++) {
      sum += forward[layer];
    }
    return sum;
  }

  /** Seconds of all passes. */
  public double seconds() {
    double sum = 0;
    for (int layer = 0; layer < size(); layer++) {
      sum += forward[layer] + backward[layer];
    }
    return sum;
  }

  /** Bytes that all layers keep. */
  public double keptBytes() {
    double sum = 0;
    for (double bytes : kept) {
      sum += bytes;
    }
    return sum;
  }
}
