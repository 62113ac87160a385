package dev.pipewright.planner.pipedream;

import dev.pipewright.model.Chain;
import dev.pipewright.units.Check;

/**
 * What PipeDream's optimizer knows of a network: sums over the layers before each place where it
 * can be cut, so that a stage's figures are differences.
 *
 * <p>Place 0 is before all layers and place p after position p − 1 of the chain; a stage lies
 * between two places of which the second {@link #follows} the first. Built in O(places), on a
 * network with branches in O(places²).
 */
public final class CutCosts implements StageSeconds {
  private final Chain chain;
  private final double[] seconds; // of all layers before a place
  private final double[] lessBefore; // the same, negative
  private final double[] lessMost; // the largest up to a place: branches do not ascend; negative
  private final int[] column; // one for all later places
  private final double[] parameters;
  private final double[] mostParameters;
  private final double[] crossing;
  private final double[] layerSeconds;
  private final double[] layerParameters;
  private final long[][] follows; // bits by later place; empty where all follow

  private CutCosts(
      Chain chain,
      double[] layerSeconds,
      double[] layerParameters,
      double[] seconds,
      double[] parameters,
      double[] crossing) {
    this.chain = chain;
    this.layerSeconds = layerSeconds;
    this.layerParameters = layerParameters;
    this.seconds = seconds;
    this.lessBefore = negative(seconds);
    this.lessMost = negative(ascending(seconds));
    this.column = new int[seconds.length];
    this.parameters = parameters;
    this.mostParameters = ascending(parameters);
    this.crossing = crossing;
    this.follows = follows(chain);
  }

  /**
   * Sums by layer of the chain's graph, each for one mini-batch on one device.
   *
   * @param seconds forward and backward
   * @param parameterBytes of all weights
   * @param outputBytes of the boundary activation
   */
  public static CutCosts of(
      Chain chain, double[] seconds, double[] parameterBytes, double[] outputBytes) {
    int layers = chain.graph().size();
    Check.that(
        seconds.length == layers && parameterBytes.length == layers && outputBytes.length == layers,
        "each layer needs its figures: layers=%d, seconds=%d, parameters=%d, outputs=%d",
        layers,
        seconds.length,
        parameterBytes.length,
        outputBytes.length);
    return new CutCosts(
        chain,
        seconds.clone(),
        parameterBytes.clone(),
        fromNothing(chain.cumulative(seconds)),
        fromNothing(chain.cumulative(parameterBytes)),
        fromNothing(chain.crossingAsAugmented(outputBytes)));
  }

  private static double[] fromNothing(double[] sums) {
    double[] shifted = new double[sums.length + 1];
    System.arraycopy(sums, 0, shifted, 1, sums.length);
    return shifted;
  }

  private static double[] ascending(double[] sums) {
    double[] most = sums.clone();
    for (int i = 1; i < most.length; i++) {
      most[i] = Math.max(most[i], most[i - 1]);
    }
    return most;
  }

  private static double[] negative(double[] sums) {
    double[] negative = new double[sums.length];
    for (int i = 0; i < sums.length; i++) {
      negative[i] = -sums[i];
    }
    return negative;
  }

  private static long[][] follows(Chain chain) {
    if (chain.total()) {
      return new long[0][];
    }
    int places = chain.size() + 1;
    long[][] follows = new long[places][(places + 63) / 64];
    for (int from = 0; from < places; from++) {
      for (int to = from + 1; to < places; to++) {
        if (from == 0 || chain.precedes(from - 1, to - 1)) {
          follows[from][to >> 6] |= 1L << to;
        }
      }
    }
    return follows;
  }

  /** The network. */
  public Chain chain() {
    return chain;
  }

  /** The last place, after all layers: as many as the chain has positions. */
  public int last() {
    return seconds.length - 1;
  }

  /** Whether a stage may lie between two places. */
  public boolean follows(int from, int to) {
    return from < to && (follows.length == 0 || (follows[from][to >> 6] >> to & 1) != 0);
  }

  /** Forward and backward seconds of the layers between two places on one device. */
  @Override
  public double exact(int from, int to) {
    return seconds[to] - seconds[from];
  }

  @Override
  public double[] upTo() {
    return seconds;
  }

  @Override
  public int[] column() {
    return column;
  }

  @Override
  public double[] from() {
    return lessBefore;
  }

  @Override
  public double[] fromAtLeast() {
    return lessMost;
  }

  /** Bytes of the weights between two places. */
  public double parameterBytes(int from, int to) {
    return parameters[to] - parameters[from];
  }

  /** Bytes of the weights before each place. */
  double[] parameterBytes() {
    return parameters;
  }

  /** The most of those up to each place: what differs from it never grows with the place. */
  double[] mostParameterBytes() {
    return mostParameters;
  }

  /** Bytes of the activations of one mini-batch that the program charges a cut with. */
  public double crossingBytes(int place) {
    return crossing[place];
  }

  /** Forward and backward seconds of a layer of the graph. */
  double layerSeconds(int layer) {
    return layerSeconds[layer];
  }

  /** Bytes of the weights of a layer of the graph. */
  double layerParameterBytes(int layer) {
    return layerParameters[layer];
  }
}
