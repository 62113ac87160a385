package dev.pipewright.planner.reasons;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.DeviceMemory;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import java.util.ArrayList;
import java.util.List;

/**
 * A cluster that differs from another one in one respect.
 *
 * @param words the difference
 */
public record ClusterChange(String words, Cluster cluster) {
  private static final double MORE_MEMORY = 1.1;
  private static final double MORE_BANDWIDTH = 2;

  /** One machine or device more, a tenth more memory, and twice the outermost bandwidth. */
  public static List<ClusterChange> of(Cluster cluster) {
    List<ClusterChange> changes = new ArrayList<>();
    changes.add(
        new ClusterChange(
            cluster.machines() > 1 ? "one more machine" : "one more device", larger(cluster)));
    changes.add(new ClusterChange("10 % more memory", roomier(cluster)));
    if (cluster.size() > 1) {
      changes.add(
          new ClusterChange(
              cluster.machines() > 1
                  ? "twice the bandwidth between machines"
                  : "twice the bandwidth",
              faster(cluster)));
    }
    return changes;
  }

  /** With another machine like the last one; where there is one machine, another device. */
  private static Cluster larger(Cluster cluster) {
    boolean machines = cluster.machines() > 1;
    List<Integer> inner = cluster.groups().get(0);
    int more = machines ? inner.get(inner.size() - 1) : 1;
    List<DeviceKind> devices = new ArrayList<>(cluster.devices());
    devices.addAll(cluster.devices().subList(cluster.size() - more, cluster.size()));
    List<List<Integer>> groups = new ArrayList<>();
    for (int level = 0; level < cluster.groups().size(); level++) {
      List<Integer> sizes = new ArrayList<>(cluster.groups().get(level));
      if (machines && level == 0) {
        sizes.add(more);
      } else {
        sizes.set(sizes.size() - 1, sizes.get(sizes.size() - 1) + more);
      }
      groups.add(sizes);
    }
    return new Cluster(cluster.name(), devices, cluster.levels(), groups, cluster.software());
  }

  private static Cluster roomier(Cluster cluster) {
    List<DeviceKind> devices =
        cluster.devices().stream().map(kind -> kind.with(roomier(kind.deviceMemory()))).toList();
    return new Cluster(
        cluster.name(), devices, cluster.levels(), cluster.groups(), cluster.software());
  }

  private static DeviceMemory roomier(DeviceMemory memory) {
    Bytes more = new Bytes((long) (MORE_MEMORY * memory.reported().value()));
    return new DeviceMemory(more, memory.context(), memory.communication(), memory.reserve());
  }

  private static Cluster faster(Cluster cluster) {
    List<Level> levels = new ArrayList<>(cluster.levels());
    Level outer = levels.get(levels.size() - 1);
    levels.set(
        levels.size() - 1,
        new Level(
            outer.name(),
            faster(outer.pointToPoint()),
            faster(outer.collective()),
            outer.ports(),
            outer.achieved()));
    return cluster.withLevels(levels);
  }

  private static Link faster(Link link) {
    List<Link.Piece> small =
        link.small().stream()
            .map(piece ->
                new Link.Piece(piece.upToBytes(), piece.latency(), faster(piece.bandwidth())))
            .toList();
    return new Link(link.latency(), faster(link.bandwidth()), small);
  }

  private static BytesPerSecond faster(BytesPerSecond bandwidth) {
    return new BytesPerSecond(MORE_BANDWIDTH * bandwidth.value());
  }
}
