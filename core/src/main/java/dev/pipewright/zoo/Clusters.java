package dev.pipewright.zoo;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.Check;
import dev.pipewright.units.FlopsPerSecond;
import java.util.List;
import java.util.Optional;

/**
 * The clusters of DAPPLE's experiments (Fan et al., PPoPP 2021, arXiv:2007.01045, Table III), by
 * name: {@code dapple-a} has 2 nodes of 8 V100 joined by NVLink and 25 Gbit/s Ethernet between the
 * nodes, {@code dapple-b} 16 nodes of one V100 at 25 Gbit/s, {@code dapple-c} the same at 10
 * Gbit/s.
 *
 * <p>A colon and a size give another number of nodes × devices per node: {@code dapple-a:4x8},
 * {@code dapple-b:8}.
 *
 * <p>The table states link speeds, not what they achieve. In a node: 25 GB/s for one NVLink
 * connection, 100 GB/s for a ring over four, 10 µs. Between nodes at 25 Gbit/s: 1 GB/s from one
 * device to another, 3 GB/s for a ring, which are the figures of the authors' planner, and 50 µs.
 * At 10 Gbit/s both rates times 0.4. A node of one device has the same node level: nothing crosses
 * it.
 */
public final class Clusters {
  private static final int MOST_DEVICES = 100_000;

  private Clusters() {}

  public static List<String> names() {
    return List.of("dapple-a", "dapple-b", "dapple-c");
  }

  /** A device of the experiments: 16 GiB, peaks as in NVIDIA's V100 data sheet (SXM2). */
  public static DeviceKind v100() {
    return new DeviceKind(
        "V100-16GB",
        Bytes.gib(16),
        new FlopsPerSecond(15.7e12),
        new FlopsPerSecond(125e12),
        new BytesPerSecond(900e9));
  }

  /**
   * The cluster called {@code name}, or empty where no such name is known.
   *
   * @throws IllegalArgumentException when the name is known but the size behind it makes no sense
   */
  public static Optional<Cluster> find(String name) {
    int colon = name.indexOf(':');
    String base = colon < 0 ? name : name.substring(0, colon);
    String size = colon < 0 ? "" : name.substring(colon + 1);
    return switch (base) {
      case "dapple-a" -> Optional.of(nodes(name, colon < 0 ? "2x8" : size));
      case "dapple-b" -> Optional.of(flat(name, colon < 0 ? "16" : size, 1));
      case "dapple-c" -> Optional.of(flat(name, colon < 0 ? "16" : size, 0.4));
      default -> Optional.empty();
    };
  }

  private static Cluster nodes(String name, String size) {
    int times = size.indexOf('x');
    int nodes = times < 0 ? 0 : count(size.substring(0, times));
    int devices = times < 0 ? 0 : count(size.substring(times + 1));
    Check.that(
        nodes >= 1 && devices >= 1 && (long) nodes * devices <= MOST_DEVICES,
        "%s: '%s' is not a size; write nodes x devices per node, at most %d devices, like 4x8",
        name,
        size,
        MOST_DEVICES);
    return cluster(name, nodes, devices, 1);
  }

  /** A cluster whose nodes have one device each: {@code size} is a number, or a number and x1. */
  private static Cluster flat(String name, String size, double share) {
    int nodes = count(size.endsWith("x1") ? size.substring(0, size.length() - 2) : size);
    Check.that(
        nodes >= 1 && nodes <= MOST_DEVICES,
        "%s: '%s' is not a size; its nodes have one device each: write their number, at most %d,"
            + " like 8 (dapple-a has nodes of several)",
        name,
        size,
        MOST_DEVICES);
    return cluster(name, nodes, 1, share);
  }

  /** The number that the text is, or 0. */
  private static int count(String text) {
    return Options.isNumber(text) && text.length() <= 6 ? Integer.parseInt(text) : 0;
  }

  private static Cluster cluster(String name, int nodes, int devices, double share) {
    Level node = new Level("node", Link.of(1e-5, 25e9), Link.of(1e-5, 100e9));
    Level network = new Level("cluster", Link.of(5e-5, share * 1e9), Link.of(5e-5, share * 3e9));
    return Cluster.uniform(name, v100(), List.of(node, network), devices, nodes);
  }
}
