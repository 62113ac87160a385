package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.units.Check;
import java.util.function.IntConsumer;

/**
 * Where the devices of one group sit, and so which ports its collectives cross. A port belongs to a
 * group of the level below: a machine's network cards, a rack's uplinks, at the innermost level the
 * device's own.
 */
final class Spread {
  private final Cluster cluster;
  private final int[] devices;
  private final int[] fanouts;

  /** Of the given devices, ascending. */
  Spread(Cluster cluster, int[] devices) {
    for (int i = 1; i < devices.length; i++) {
      Check.that(
          devices[i - 1] < devices[i],
          "devices must ascend: device %d follows %d",
          devices[i],
          devices[i - 1]);
    }
    this.cluster = cluster;
    this.devices = devices;
    this.fanouts = new int[cluster.levels().size()];
    for (int level = 0; level < fanouts.length; level++) {
      fanouts[level] = widestFanout(level);
    }
  }

  private int widestFanout(int level) {
    int widest = 0;
    for (int first = 0, end; first < devices.length; first = end) {
      end = endOfGroup(level, first);
      int fanout = 0;
      for (int i = first; i < end; i++) {
        if (i == first || port(level, i) != port(level, i - 1)) {
          fanout++;
        }
      }
      widest = Math.max(widest, fanout);
    }
    return widest;
  }

  /** Past the last member that shares the level's group with the member at {@code first}. */
  private int endOfGroup(int level, int first) {
    int end = first + 1;
    while (end < devices.length
        && cluster.group(level, devices[end]) == cluster.group(level, devices[first])) {
      end++;
    }
    return end;
  }

  private int port(int level, int member) {
    return port(cluster, level, devices[member]);
  }

  /** The owner of the ports through which a device reaches others at {@code level}. */
  static int port(Cluster cluster, int level, int device) {
    return level == 0 ? device : cluster.group(level - 1, device);
  }

  int firstDevice() {
    return devices[0];
  }

  int lastDevice() {
    return devices[devices.length - 1];
  }

  int members() {
    return devices.length;
  }

  /** The most groups of the level below that any one group of {@code level} has among us. */
  int fanout(int level) {
    return fanouts[level];
  }

  /** Whether members talk to each other at this level. */
  boolean crosses(int level) {
    return fanouts[level] > 1;
  }

  /**
   * How many rings the members can open, each leaving through a port and a device of its own: no
   * more than the ports of any level crossed beyond the devices' own, nor than the members behind
   * them.
   */
  int strands() {
    double strands = Double.POSITIVE_INFINITY;
    for (int level = 1; level < fanouts.length; level++) {
      if (crosses(level)) {
        strands = Math.min(strands, cluster.levels().get(level).ports());
        strands = Math.min(strands, fewestBehindPorts(level));
      }
    }
    return Double.isInfinite(strands) ? 1 : Math.max(1, (int) strands);
  }

  /** The fewest members that share the ports of a group of the level below. */
  private int fewestBehindPorts(int level) {
    int fewest = devices.length;
    for (int first = 0, end; first < devices.length; first = end) {
      end = first + 1;
      while (end < devices.length && port(level, end) == port(level, first)) {
        end++;
      }
      fewest = Math.min(fewest, end - first);
    }
    return fewest;
  }

  /** Into how many parts the levels below have scattered a message: as many flows at a port. */
  int slices(int level) {
    int slices = 1;
    for (int below = 0; below < level; below++) {
      slices *= fanouts[below];
    }
    return slices;
  }

  /**
   * Visits, once each, the ports that a ring through the members crosses: of groups of the level
   * below with a member inside and another outside, but within one group of {@code level}.
   */
  void ports(int level, IntConsumer visit) {
    for (int first = 0, end; first < devices.length; first = end) {
      end = endOfGroup(level, first);
      if (port(level, first) == port(level, end - 1)) {
        continue;
      }
      for (int i = first; i < end; i++) {
        if (i == first || port(level, i) != port(level, i - 1)) {
          visit.accept(port(level, i));
        }
      }
    }
  }
}
