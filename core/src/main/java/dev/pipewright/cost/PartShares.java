package dev.pipewright.cost;

import dev.pipewright.units.Check;

/**
 * The part of a layer that one device computes, as shares of its dimensions.
 *
 * @param filters share of its output channels
 * @param channels share of its input channels
 * @param positions share of its feature map
 */
public record PartShares(double filters, double channels, double positions) {
  public static final PartShares WHOLE = new PartShares(1, 1, 1);

  public PartShares {
    Check.that(
        filters > 0 && channels > 0 && positions > 0,
        "a part is some of each dimension: filters=%s, channels=%s, positions=%s",
        filters,
        channels,
        positions);
  }

  /** Share of the arithmetic. */
  double work() {
    return filters * channels * positions;
  }

  /** Share of the weights. */
  public double weights() {
    return filters * channels;
  }
}
