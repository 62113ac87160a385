package dev.pipewright.cluster;

import dev.pipewright.units.Bytes;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.function.UnaryOperator;

/**
 * Devices numbered {@code 0..size-1} across the cluster, machine by machine, and the levels that
 * join them, innermost first. Kinds may differ from device to device; groups may differ in size.
 *
 * <p>{@code groups.get(l)} lists the sizes, in devices, of the groups of level {@code l} in device
 * order; the outermost level is one group. Groups of a level nest inside those of the next.
 */
public final class Cluster {
  private static final Comparator<Bytes> BY_SIZE = Comparator.comparingLong(Bytes::value);

  private final String name;
  private final List<DeviceKind> devices;
  private final List<Level> levels;
  private final List<List<Integer>> groups;
  private final Software software;
  private final int[][] groupOf;
  private final int[][] firstOf;
  private final boolean homogeneous;

  /** A cluster whose software adds nothing. */
  public Cluster(
      String name, List<DeviceKind> devices, List<Level> levels, List<List<Integer>> groups) {
    this(name, devices, levels, groups, Software.IDEAL);
  }

  public Cluster(
      String name,
      List<DeviceKind> devices,
      List<Level> levels,
      List<List<Integer>> groups,
      Software software) {
    Check.that(!devices.isEmpty(), "a cluster needs at least one device: cluster=%s", name);
    Check.that(!levels.isEmpty(), "a cluster needs at least one level: cluster=%s", name);
    Check.that(
        levels.size() == groups.size(),
        "levels and groups must pair up: levels=%d, groups=%d",
        levels.size(),
        groups.size());
    Check.that(
        groups.get(groups.size() - 1).size() == 1,
        "the outermost level must be one group: groups=%s",
        groups.get(groups.size() - 1));
    this.name = name;
    this.devices = List.copyOf(devices);
    this.levels = List.copyOf(levels);
    this.groups = groups.stream().map(List::copyOf).toList();
    this.software = software;
    this.groupOf = numberGroups(this.groups, this.devices.size());
    this.firstOf = firstDevices(groupOf, this.groups);
    this.homogeneous = this.devices.stream().allMatch(this.devices.get(0)::equals);
    checkNesting(groupOf);
  }

  /**
   * A cluster of equal devices whose level {@code l} groups {@code fanouts[l]} groups of the level
   * below.
   */
  public static Cluster uniform(String name, DeviceKind kind, List<Level> levels, int... fanouts) {
    Check.that(
        levels.size() == fanouts.length,
        "one fan-out per level: levels=%d, fanouts=%d",
        levels.size(),
        fanouts.length);
    int size = 1;
    for (int fanout : fanouts) {
      Check.that(fanout >= 1, "a level joins at least one group: fanout=%d", fanout);
      size = Math.multiplyExact(size, fanout);
    }
    List<List<Integer>> groups = new ArrayList<>();
    int groupSize = 1;
    for (int fanout : fanouts) {
      groupSize *= fanout;
      groups.add(Collections.nCopies(size / groupSize, groupSize));
    }
    return new Cluster(name, Collections.nCopies(size, kind), levels, groups);
  }

  private static int[][] numberGroups(List<List<Integer>> groups, int size) {
    int[][] groupOf = new int[groups.size()][size];
    for (int level = 0; level < groups.size(); level++) {
      int device = 0;
      for (int group = 0; group < groups.get(level).size(); group++) {
        int members = groups.get(level).get(group);
        Check.that(members >= 1, "a group needs a device: level=%d, group=%d", level, group);
        for (int i = 0; i < members && device < size; i++) {
          groupOf[level][device++] = group;
        }
      }
      long total = groups.get(level).stream().mapToLong(Integer::longValue).sum();
      Check.that(
          total == size,
          "the groups of a level must cover all devices: level=%d, members=%d, devices=%d",
          level,
          total,
          size);
    }
    return groupOf;
  }

  private static int[][] firstDevices(int[][] groupOf, List<List<Integer>> groups) {
    int[][] firstOf = new int[groupOf.length][];
    for (int level = 0; level < groupOf.length; level++) {
      firstOf[level] = new int[groups.get(level).size()];
      for (int device = groupOf[level].length - 1; device >= 0; device--) {
        firstOf[level][groupOf[level][device]] = device;
      }
    }
    return firstOf;
  }

  private static void checkNesting(int[][] groupOf) {
    for (int level = 1; level < groupOf.length; level++) {
      for (int device = 1; device < groupOf[level].length; device++) {
        boolean sameBelow = groupOf[level - 1][device] == groupOf[level - 1][device - 1];
        boolean sameHere = groupOf[level][device] == groupOf[level][device - 1];
        Check.that(
            !sameBelow || sameHere,
            "groups must nest: device=%d, level=%d splits a group of level %d",
            device,
            level,
            level - 1);
      }
    }
  }

  public String name() {
    return name;
  }

  public int size() {
    return devices.size();
  }

  public List<DeviceKind> devices() {
    return devices;
  }

  public DeviceKind device(int device) {
    return devices.get(device);
  }

  public List<Level> levels() {
    return levels;
  }

  /** Sizes, in devices, of the groups of each level, as given. */
  public List<List<Integer>> groups() {
    return groups;
  }

  /** The group of {@code level} that holds {@code device}. */
  public int group(int level, int device) {
    return groupOf[level][device];
  }

  /** The first device of a group of {@code level}. */
  public int firstDevice(int level, int group) {
    return firstOf[level][group];
  }

  /** The innermost group (machine, node) of a device. */
  public int machine(int device) {
    return groupOf[0][device];
  }

  public int machines() {
    return groups.get(0).size();
  }

  /** The innermost level whose group holds both devices. */
  public int levelJoining(int a, int b) {
    int level = 0;
    while (groupOf[level][a] != groupOf[level][b]) {
      level++;
    }
    return level;
  }

  /**
   * The first devices of the cluster with the links that join them.
   *
   * @param count devices, from 1 to {@link #size}
   */
  public Cluster first(int count) {
    Check.that(1 <= count && count <= size(), "devices must be in 1..%d: count=%d", size(), count);
    if (count == size()) {
      return this;
    }
    List<List<Integer>> cut = new ArrayList<>();
    for (List<Integer> sizes : groups) {
      List<Integer> left = new ArrayList<>();
      int before = 0;
      for (int group = 0; before < count; before += sizes.get(group), group++) {
        left.add(Math.min(sizes.get(group), count - before));
      }
      cut.add(left);
    }
    String part = "%d of %s".formatted(count, this);
    return new Cluster(part, devices.subList(0, count), levels, cut, software);
  }

  /**
   * Some devices of the cluster with the links that join them.
   *
   * @param some their numbers, ascending
   */
  public Cluster only(List<Integer> some) {
    for (int i = 0; i < some.size(); i++) {
      Check.that(
          some.get(i) > (i == 0 ? -1 : some.get(i - 1)) && some.get(i) < size(),
          "devices must ascend in 0..%d: devices=%s",
          size() - 1,
          some);
    }
    if (some.size() == size()) {
      return this;
    }
    List<List<Integer>> cut = new ArrayList<>();
    for (int[] group : groupOf) {
      List<Integer> left = new ArrayList<>();
      for (int i = 0; i < some.size(); i++) {
        if (i > 0 && group[some.get(i)] == group[some.get(i - 1)]) {
          left.set(left.size() - 1, left.get(left.size() - 1) + 1);
        } else {
          left.add(1);
        }
      }
      cut.add(left);
    }
    List<DeviceKind> kinds = some.stream().map(devices::get).toList();
    return new Cluster("%d of %s".formatted(some.size(), this), kinds, levels, cut, software);
  }

  /** The memory of the device that has least. */
  public Bytes leastMemory() {
    return devices.stream().map(DeviceKind::memory).min(BY_SIZE).orElseThrow();
  }

  /** The memory of the device that has most. */
  public Bytes mostMemory() {
    return devices.stream().map(DeviceKind::memory).max(BY_SIZE).orElseThrow();
  }

  /** The same cluster with this much memory on every device. */
  public Cluster withMemory(Bytes memory) {
    List<DeviceKind> changed = devices.stream().map(kind -> kind.withMemory(memory)).toList();
    return new Cluster(name, changed, levels, groups, software);
  }

  /** The same cluster where plans leave {@code share} of every device's memory free. */
  public Cluster withReserve(double share) {
    return withMemories(memory -> memory.withReserve(share));
  }

  /** The same where nothing else is stated of a device. */
  public Cluster withUsualReserve(double share) {
    return withMemories(
        memory -> memory.reserve().isPresent() ? memory : memory.withReserve(share));
  }

  private Cluster withMemories(UnaryOperator<DeviceMemory> change) {
    List<DeviceKind> changed =
        devices.stream().map(kind -> kind.with(change.apply(kind.deviceMemory()))).toList();
    return new Cluster(name, changed, levels, groups, software);
  }

  /** The share of memory that plans leave free; empty where devices differ or state none. */
  public OptionalDouble reserve() {
    OptionalDouble first = devices.get(0).deviceMemory().reserve();
    boolean same = devices.stream().allMatch(kind -> kind.deviceMemory().reserve().equals(first));
    return same ? first : OptionalDouble.empty();
  }

  /** The same cluster with other links, one for each of its levels. */
  public Cluster withLevels(List<Level> others) {
    return new Cluster(name, devices, others, groups, software);
  }

  /** The same cluster with other training software. */
  public Cluster withSoftware(Software other) {
    return new Cluster(name, devices, levels, groups, other);
  }

  /** What the training software adds. */
  public Software software() {
    return software;
  }

  /** Whether all devices are of one kind. */
  public boolean homogeneous() {
    return homogeneous;
  }

  @Override
  public boolean equals(Object that) {
    return that instanceof Cluster other
        && name.equals(other.name)
        && devices.equals(other.devices)
        && levels.equals(other.levels)
        && groups.equals(other.groups)
        && software.equals(other.software);
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, devices, levels, groups, software);
  }

  @Override
  public String toString() {
    return name + " (" + size() + " devices)";
  }
}
