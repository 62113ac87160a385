package dev.pipewright.zoo;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.Software;
import dev.pipewright.units.Precision;
import java.util.List;

/**
 * The clusters of DAPPLE's experiments (Fan et al., PPoPP 2021, arXiv:2007.01045, Table III):
 * {@code dapple-a} has 2 nodes of 8 V100 joined by NVLink and 25 Gbit/s Ethernet between the nodes,
 * {@code dapple-b} 16 nodes of one V100 at 25 Gbit/s, {@code dapple-c} the same at 10 Gbit/s.
 *
 * <p>The table states link speeds, not what they achieve. In a node: 25 GB/s for one NVLink
 * connection, 100 GB/s for a ring over four, 10 µs. Between nodes at 25 Gbit/s: 1 GB/s from one
 * device to another, 3 GB/s for a ring, which are the figures of the authors' planner, and 50 µs.
 * At 10 Gbit/s both rates times 0.4. A node of one device has the same node level: nothing crosses
 * it. The paper's profiles are in 32 bits.
 */
final class DappleClusters {
  private DappleClusters() {}

  static Cluster nodes(String name, String size) {
    return cluster(name, ClusterSize.of(name, size), 1);
  }

  /** Nodes of one device, at this {@code share} of 25 Gbit/s. */
  static Cluster singles(String name, String size, double share) {
    return cluster(name, ClusterSize.ofSingles(name, size), share);
  }

  private static Cluster cluster(String name, ClusterSize size, double share) {
    Level node = new Level("node", Link.of(1e-5, 25e9), Link.of(1e-5, 100e9));
    Level network = new Level("cluster", Link.of(5e-5, share * 1e9), Link.of(5e-5, share * 3e9));
    return Cluster.uniform(
            name, Clusters.v100(), List.of(node, network), size.devices(), size.nodes())
        .withSoftware(Software.IDEAL.withPrecision(Precision.FP32));
  }
}
