package dev.pipewright.zoo;

import dev.pipewright.cluster.AllReduceAlgorithm;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.Software;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The machine of ParaDL's experiments: nodes of four V100 with 16 GB, racks of 17 nodes, and a tree
 * above the racks.
 *
 * <p>Source: A. N. Kahira et al., <i>An oracle for guiding large-scale model/hybrid parallel
 * training of convolutional neural networks</i>, HPDC 2021, §5.1 (nodes, two EDR cards each, full
 * bisection in a rack, 1:3 over-subscription between racks). Latencies and bandwidths are those of
 * the authors' own program: for NCCL up to 4 devices, 68, 136 and beyond; messages between two
 * devices go through the host's memory (§5.3.1: MPI instead of NCCL), hence 3 ms inside a node.
 *
 * <p>A rack leaves over two uplinks in three of its 17 nodes' cards: 17 · 2 / 3; a pair of racks
 * twice as many. Whole: 1,088 nodes, 4,352 devices; the paper used up to 1,024.
 */
final class Abci {
  static final int NODES_OF_RACK = 17;
  private static final int CARDS = 2;
  private static final double UPLINKS = NODES_OF_RACK * CARDS / 3.0;

  /**
   * Share of the network's rate that training runs sustained, and seconds that devices waited for
   * each second of arithmetic: calibrated on ResNet-50, {@code bench/results/abci-calibration.md}.
   */
  private static final double SUSTAINED = 0.625;

  private static final double WAITING = 0.08;

  /**
   * ChainerMN sums after the backward pass, by rings, layer by layer what only some of the devices
   * sum with each other. Its convolutions are not the fast ones: the authors' 8.2 ms for a sample
   * of VGG-16 are twice what those would take, and agree with the others. All runs of the paper are
   * in 32 bits.
   */
  private static final Software CHAINER =
      new Software(WAITING, false, false)
          .with(AllReduceAlgorithm.RING)
          .withOverlap(0)
          .withPrecision(Precision.FP32);

  private Abci() {}

  /** As many nodes as wanted; the last rack and the last pair of racks may be smaller. */
  static Cluster of(String name, String size) {
    ClusterSize wanted = ClusterSize.of(name, size);
    int devices = wanted.nodes() * wanted.devices();
    int rack = NODES_OF_RACK * wanted.devices();
    return new Cluster(
        name,
        Collections.nCopies(devices, Clusters.v100()),
        levels(),
        List.of(
            groups(devices, wanted.devices()),
            groups(devices, rack),
            groups(devices, 2 * rack),
            List.of(devices)),
        CHAINER);
  }

  private static List<Level> levels() {
    Link host = Link.of(3.00011e-3, 16e9);
    Link network = Link.of(8.053e-5, 12.5e9);
    return List.of(
        new Level("node", host, Link.of(9e-6, 50e9)),
        new Level("rack", network, Link.of(4.031e-5, 12.5e9), CARDS, SUSTAINED),
        new Level("rack pair", network, Link.of(4.049e-5, 12.5e9), UPLINKS, SUSTAINED),
        new Level("cluster", network, Link.of(4.098e-5, 12.5e9), 2 * UPLINKS, SUSTAINED));
  }

  /** Groups of {@code size} devices; the last holds the rest. */
  private static List<Integer> groups(int devices, int size) {
    List<Integer> groups = new ArrayList<>(Collections.nCopies(devices / size, size));
    if (devices % size > 0) {
      groups.add(devices % size);
    }
    return groups;
  }
}
