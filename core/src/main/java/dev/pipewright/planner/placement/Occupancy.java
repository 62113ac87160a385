package dev.pipewright.planner.placement;

import java.util.Arrays;

/** Groups on devices, any on any, with loads that are kept up to date move by move. */
final class Occupancy {
  private final Groups groups;
  private final int accelerators;
  private final int devices; // accelerators, then processors
  private final int[] deviceOf;
  private final int[] held; // [net][device]: groups of the net there
  private final double[] compute;
  private final double[] transfers;
  private final double[] bytes;

  Occupancy(Groups groups) {
    this.groups = groups;
    accelerators = Math.min(groups.devices.accelerators(), groups.size);
    devices = accelerators + Math.min(groups.devices.processors(), groups.size);
    deviceOf = new int[groups.size];
    held = new int[groups.nets.length * devices];
    compute = new double[devices];
    transfers = new double[devices];
    bytes = new double[devices];
    Arrays.fill(deviceOf, -1);
  }

  int devices() {
    return devices;
  }

  int deviceOf(int group) {
    return deviceOf[group];
  }

  int[] placement() {
    return deviceOf.clone();
  }

  boolean[] processors() {
    boolean[] processors = new boolean[devices];
    Arrays.fill(processors, accelerators, devices, true);
    return processors;
  }

  double load(int device) {
    return compute[device] + transfers[device];
  }

  double most() {
    double most = 0;
    for (int device = 0; device < devices; device++) {
      most = Math.max(most, load(device));
    }
    return most;
  }

  /** Puts every group where {@code placement} says, from scratch: no rounding is left behind. */
  void set(int[] placement) {
    Arrays.fill(held, 0);
    Arrays.fill(compute, 0);
    Arrays.fill(transfers, 0);
    Arrays.fill(bytes, 0);
    Arrays.fill(deviceOf, -1);
    for (int group = 0; group < deviceOf.length; group++) {
      enter(group, placement[group]);
    }
  }

  /** Whether a device can run a group and has room for it beside what it holds. */
  boolean takes(int device, int group) {
    return device >= accelerators
        || (groups.onAccelerator[group]
            && bytes[device] + groups.bytes[group] <= groups.devices.acceleratorBytes());
  }

  void move(int group, int to) {
    leave(group);
    enter(group, to);
  }

  /** Puts a group that is nowhere on a device. */
  void enter(int group, int device) {
    deviceOf[group] = device;
    boolean accelerated = device < accelerators;
    compute[device] += accelerated ? groups.acceleratorTime[group] : groups.processorTime[group];
    bytes[device] += groups.bytes[group];
    for (int net : groups.netsOf[group]) {
      int count = ++held[net * devices + device];
      if (accelerated) {
        transfers[device] += count == 1 ? groups.netCost[net] : 0;
        transfers[device] -= count == groups.nets[net].length ? groups.netCost[net] : 0;
      }
    }
  }

  /** Takes a group off its device; it is nowhere until it enters another. */
  void leave(int group) {
    int device = deviceOf[group];
    boolean accelerated = device < accelerators;
    compute[device] -= accelerated ? groups.acceleratorTime[group] : groups.processorTime[group];
    bytes[device] -= groups.bytes[group];
    for (int net : groups.netsOf[group]) {
      int count = held[net * devices + device]--;
      if (accelerated) {
        transfers[device] -= count == 1 ? groups.netCost[net] : 0;
        transfers[device] += count == groups.nets[net].length ? groups.netCost[net] : 0;
      }
    }
  }
}
