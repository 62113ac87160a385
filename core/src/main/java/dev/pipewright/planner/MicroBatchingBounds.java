package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;

/**
 * The bounds that the pricers of one micro-batch size share, under the tightest limit asked for.
 */
final class MicroBatchingBounds implements PrefixBound.Prices {
  /** Tables are made anew when the limit has come down by this factor. */
  private static final double WORTH_NEW_TABLES = 0.99;

  private final StageCosts costs;
  private final MicroBatching microBatching;
  private final PlacementSpace space;
  private final double fastest;
  private final double[] even;
  private PrefixBound tables;
  private double limit = Double.NaN; // that the tables were made for

  MicroBatchingBounds(StageCosts costs, MicroBatching microBatching, PlacementSpace space) {
    this.costs = costs;
    this.microBatching = microBatching;
    this.space = space;
    this.fastest = costs.fastest();
    this.even = costs.cheapestSecondsPerSample(microBatching.samples());
    for (int i = 0; i < even.length; i++) {
      even[i] *= microBatching.samples() * fastest;
    }
    this.tables = evenly();
  }

  /** Bounds that cost nothing to make. */
  PrefixBound evenly() {
    return PrefixBound.evenly(even, space.grain());
  }

  /** Bounds for plans whose step is no longer than {@code limit}. */
  PrefixBound within(double wanted) {
    boolean usable = limit >= wanted && limit * WORTH_NEW_TABLES <= wanted;
    if (!usable) {
      tables = PrefixBound.of(costs, even, space.grain(), space.counts(), this, wanted);
      limit = wanted;
    }
    return tables;
  }

  @Override
  public double[] seconds(int devices) {
    int slice = StageCosts.slice(microBatching.samples(), devices);
    double[] forward = costs.forwardSeconds(slice);
    double[] backward = costs.backwardSeconds(slice);
    double[] both = new double[forward.length];
    for (int i = 0; i < both.length; i++) {
      both[i] = (forward[i] + backward[i]) * fastest;
    }
    return both;
  }

  @Override
  public boolean allows(int devices) {
    return devices <= microBatching.samples();
  }

  @Override
  public boolean sums() {
    return true;
  }

  @Override
  public int repeats() {
    return microBatching.microBatches();
  }
}
