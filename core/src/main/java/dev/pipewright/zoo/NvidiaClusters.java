package dev.pipewright.zoo;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import java.util.List;

/**
 * Nodes of eight NVIDIA devices joined by NVLink, and a network without over-subscription.
 *
 * <p>Links carry what a ring achieves (the bus bandwidth that nccl-tests prints for large
 * messages), not what the data sheet adds up; latencies are a step of a ring, of the usual order.
 *
 * <pre>
 *   in a node                 data sheet, there and back   a ring    one pair
 *   V100  NVLink 2, cube mesh         300 GB/s            130 GB/s    25 GB/s (one connection)
 *   A100  NVLink 3, switch            600 GB/s            232 GB/s   232 GB/s
 *   H100  NVLink 4, switch            900 GB/s            370 GB/s   370 GB/s
 * </pre>
 *
 * <p>The rings: A100 as reported in NVIDIA/nccl-tests issue 175; H100 as NVIDIA states it in issue
 * 212 (480 GB/s where the switch sums, which is no ring); V100: 130 of the 150 GB/s that six
 * connections carry one way, the order that is commonly seen.
 *
 * <p>Between nodes every network card is a port, and the rate is that of one card: 96 % of its line
 * rate. NVIDIA measures 192 GB/s over eight HDR cards (NVIDIA/nccl issue 812) and expects 24 GB/s
 * over one (issue 412). A cloud's nodes have one card for each device; their names state the sum of
 * all cards in Gbit/s.
 *
 * <p>Sources of the nodes: NVIDIA, <i>DGX-1 with Tesla V100 system architecture</i>, 2017 (four EDR
 * cards); <i>DGX A100 system architecture</i>, 2020, and Selene, D. Narayanan et al., SC 2021,
 * arXiv:2104.04473, §5 (eight HDR cards); <i>DGX H100 user guide</i>, 2023 (eight NDR ports).
 */
final class NvidiaClusters {
  private static final double ACHIEVED = 0.96;

  private NvidiaClusters() {}

  static Cluster dgxV100(String name, String size) {
    Level node = new Level("node", Link.of(1e-5, 25e9), Link.of(7e-6, 130e9));
    return cluster(name, size, Accelerators.v100With32(), node, network(2e-5, 4, 100));
  }

  static Cluster a100With40(String name, String size, double gigabitsOfNode) {
    Level network = network(1.5e-5, 8, gigabitsOfNode / 8);
    return cluster(name, size, Accelerators.a100With40(), a100Node(), network);
  }

  static Cluster a100With80(String name, String size, double gigabitsOfNode) {
    Level network = network(1.5e-5, 8, gigabitsOfNode / 8);
    return cluster(name, size, Accelerators.a100With80(), a100Node(), network);
  }

  private static Level a100Node() {
    return new Level("node", Link.of(1e-5, 232e9), Link.of(6e-6, 232e9));
  }

  static Cluster h100(String name, String size, double gigabitsOfNode) {
    Level node = new Level("node", Link.of(1e-5, 370e9), Link.of(5e-6, 370e9));
    Level network = network(1.2e-5, 8, gigabitsOfNode / 8);
    return cluster(name, size, Accelerators.h100(), node, network);
  }

  private static Level network(double latency, int cards, double gigabitsOfCard) {
    Link card = Link.of(latency, ACHIEVED * gigabitsOfCard * 1e9 / 8);
    return new Level("cluster", card, card, cards);
  }

  private static Cluster cluster(
      String name, String size, DeviceKind kind, Level node, Level network) {
    ClusterSize wanted = ClusterSize.of(name, size, 8);
    return Cluster.uniform(name, kind, List.of(node, network), wanted.devices(), wanted.nodes());
  }
}
