package dev.pipewright.zoo;

import dev.pipewright.units.Check;
import dev.pipewright.units.NearCounts;

/** The size behind the colon of a cluster's name: nodes × devices per node. */
public record ClusterSize(int nodes, int devices) {
  private static final int MOST_DEVICES = 100_000;

  /**
   * Reads {@code 4x8}.
   *
   * @param name the whole name, for messages
   * @throws IllegalArgumentException when the text is no size
   */
  static ClusterSize of(String name, String size) {
    int times = size.indexOf('x');
    int nodes = times < 0 ? 0 : count(size.substring(0, times));
    int devices = times < 0 ? 0 : count(size.substring(times + 1));
    Check.that(
        nodes >= 1 && devices >= 1 && (long) nodes * devices <= MOST_DEVICES,
        "%s: '%s' is not a size; write nodes x devices per node, at most %d devices, like 4x8",
        name,
        size,
        MOST_DEVICES);
    return new ClusterSize(nodes, devices);
  }

  /**
   * Reads {@code 4x8}, or {@code 32}: devices that fill nodes of {@code node}, or lie in one.
   *
   * @param name the whole name, for messages
   * @throws IllegalArgumentException when the text is no size
   */
  public static ClusterSize of(String name, String size, int node) {
    int devices = count(size);
    if (devices < 1 || devices > MOST_DEVICES) {
      return of(name, size);
    }
    Check.that(
        devices <= node || devices % node == 0,
        "%s: %d devices do not fill nodes of %d; write %s, or nodes x devices per node, like 4x%d",
        name,
        devices,
        node,
        NearCounts.multiples(node, devices),
        node);
    return devices <= node ? new ClusterSize(1, devices) : new ClusterSize(devices / node, node);
  }

  /** Nodes of one device: the text is a number, or a number and x1. */
  static ClusterSize ofSingles(String name, String size) {
    int nodes = count(size.endsWith("x1") ? size.substring(0, size.length() - 2) : size);
    Check.that(
        nodes >= 1 && nodes <= MOST_DEVICES,
        "%s: '%s' is not a size; its nodes have one device each: write their number, at most %d,"
            + " like 8 (dapple-a has nodes of several)",
        name,
        size,
        MOST_DEVICES);
    return new ClusterSize(nodes, 1);
  }

  /** The number that the text is, or 0. */
  private static int count(String text) {
    return Options.isNumber(text) && text.length() <= 6 ? Integer.parseInt(text) : 0;
  }
}
