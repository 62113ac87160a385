package dev.pipewright.cluster;

import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.Check;
import dev.pipewright.units.FlopsPerSecond;
import dev.pipewright.units.Seconds;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Clusters that differ from another one in one respect. */
public final class ClusterVariants {
  private ClusterVariants() {}

  /** With another machine like the last one; where there is one machine, another device. */
  public static Cluster larger(Cluster cluster) {
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

  /**
   * With so many devices: the first of them, or more machines like the last one.
   *
   * @param devices at least 1; above the cluster's size whole machines
   */
  public static Cluster sized(Cluster cluster, int devices) {
    Cluster sized = cluster;
    while (sized.size() < devices) {
      sized = larger(sized);
    }
    return sized.first(devices);
  }

  /** With so many times the memory on every device, of which as much is taken as before. */
  public static Cluster withMemoryTimes(Cluster cluster, double factor) {
    return withKinds(
        cluster,
        kind -> {
          DeviceMemory memory = kind.deviceMemory();
          Bytes reported = new Bytes((long) (factor * memory.reported().value()));
          return kind.with(
              new DeviceMemory(
                  reported, memory.context(), memory.communication(), memory.reserve()));
        });
  }

  /** With so many times the bandwidth of the outermost level. */
  public static Cluster withBandwidthTimes(Cluster cluster, double factor) {
    List<Level> levels = new ArrayList<>(cluster.levels());
    int outer = levels.size() - 1;
    levels.set(outer, with(levels.get(outer), 1, factor));
    return cluster.withLevels(levels);
  }

  /** With so many times the latency of every level. */
  public static Cluster withLatencyTimes(Cluster cluster, double factor) {
    return cluster.withLevels(
        cluster.levels().stream().map(level -> with(level, factor, 1)).toList());
  }

  /**
   * Where the last device takes so many times as long for all that it computes.
   *
   * @param factor at least 1
   */
  public static Cluster withStraggler(Cluster cluster, double factor) {
    Check.that(factor >= 1, "a straggler is not faster than others: factor=%s", factor);
    if (factor == 1) {
      return cluster;
    }
    List<DeviceKind> devices = new ArrayList<>(cluster.devices());
    DeviceKind last = devices.get(devices.size() - 1);
    devices.set(
        devices.size() - 1,
        new DeviceKind(
            last.name() + ", " + factor + " times slower",
            last.deviceMemory(),
            slower(last.fp32(), factor),
            slower(last.mixed(), factor),
            last.tf32().map(rate -> slower(rate, factor)),
            last.bfloat16(),
            new BytesPerSecond(last.memoryBandwidth().value() / factor)));
    return new Cluster(
        cluster.name(), devices, cluster.levels(), cluster.groups(), cluster.software());
  }

  private static FlopsPerSecond slower(FlopsPerSecond rate, double factor) {
    return new FlopsPerSecond(rate.value() / factor);
  }

  private static Cluster withKinds(Cluster cluster, UnaryOperator<DeviceKind> change) {
    return new Cluster(
        cluster.name(),
        cluster.devices().stream().map(change).toList(),
        cluster.levels(),
        cluster.groups(),
        cluster.software());
  }

  private static Level with(Level level, double latency, double bandwidth) {
    return new Level(
        level.name(),
        with(level.pointToPoint(), latency, bandwidth),
        with(level.collective(), latency, bandwidth),
        level.ports(),
        level.achieved());
  }

  private static Link with(Link link, double latency, double bandwidth) {
    return new Link(
        with(link.latency(), latency),
        with(link.bandwidth(), bandwidth),
        link.small().stream()
            .map(piece ->
                new Link.Piece(
                    piece.upToBytes(),
                    with(piece.latency(), latency),
                    with(piece.bandwidth(), bandwidth)))
            .toList());
  }

  private static Seconds with(Seconds latency, double factor) {
    return new Seconds(latency.value() * factor);
  }

  private static BytesPerSecond with(BytesPerSecond bandwidth, double factor) {
    return new BytesPerSecond(bandwidth.value() * factor);
  }
}
