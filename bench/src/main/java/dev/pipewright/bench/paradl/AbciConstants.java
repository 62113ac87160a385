package dev.pipewright.bench.paradl;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Software;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What is calibrated about the machine of ParaDL's runs.
 *
 * @param insideRacks share of the network cards' rate that rings sustain inside a rack
 * @param betweenRacks the same where they leave it
 * @param waiting seconds that devices wait, for each second of arithmetic
 * @param fuses whether gradients that only some devices sum travel in one message
 */
record AbciConstants(double insideRacks, double betweenRacks, double waiting, boolean fuses) {
  private static final int RACK = 1; // its level; level 0 is the node

  static AbciConstants of(Cluster cluster) {
    return new AbciConstants(
        cluster.levels().get(RACK).achieved(),
        cluster.levels().get(RACK + 1).achieved(),
        cluster.software().waitingShare(),
        cluster.software().fusesGroups());
  }

  /** The same machine with these constants. */
  Cluster on(Cluster cluster) {
    List<Level> levels = new ArrayList<>();
    for (int level = 0; level < cluster.levels().size(); level++) {
      Level old = cluster.levels().get(level);
      double share = level < RACK ? old.achieved() : level == RACK ? insideRacks : betweenRacks;
      levels.add(new Level(old.name(), old.pointToPoint(), old.collective(), old.ports(), share));
    }
    Software software =
        new Software(waiting, fuses, false)
            .with(cluster.software().allReduce())
            .withOverlap(cluster.software().overlap());
    return cluster.withLevels(levels).withSoftware(software);
  }

  /** Other numbers, the same messages. */
  AbciConstants with(double inside, double between, double waits) {
    return new AbciConstants(inside, between, waits, fuses);
  }

  boolean possible() {
    return insideRacks > 0
        && insideRacks <= 1
        && betweenRacks > 0
        && betweenRacks <= 1
        && waiting >= 0;
  }

  /** All that differ in one constant, by so much; the same share inside racks and between them. */
  List<AbciConstants> neighbours(double step) {
    List<AbciConstants> all = new ArrayList<>();
    for (double by : new double[] {-step, step}) {
      double share = round(insideRacks + by);
      all.add(with(share, share, waiting));
      all.add(with(insideRacks, betweenRacks, round(waiting + by)));
    }
    return all.stream().filter(AbciConstants::possible).toList();
  }

  private static double round(double value) {
    return Math.round(value * 100) / 100.0;
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%.2f, %.2f", insideRacks, waiting);
  }
}
