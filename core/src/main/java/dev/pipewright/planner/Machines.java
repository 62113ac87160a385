package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The machines of a cluster, by kind: those of one kind have equal devices and the same parent, so
 * they are interchangeable. Device sets are counts by machine; what prices depend on is a set's
 * shape, the sorted counts of each kind.
 */
final class Machines {
  private final int[] size;
  private final int[] firstDevice;
  private final int[] kind;

  /**
   * @param byKindOfDevice whether prices depend on the kind of device
   */
  Machines(Cluster cluster, boolean byKindOfDevice) {
    int[] first = firstDevices(cluster, byKindOfDevice);
    int machines = first.length;
    int[] sizes = new int[machines];
    for (int m = 0; m < machines; m++) {
      sizes[m] = (m + 1 < machines ? first[m + 1] : cluster.size()) - first[m];
    }
    int[] kinds = kinds(cluster, first, sizes);
    Integer[] order = new Integer[machines];
    Arrays.setAll(order, m -> m);
    Arrays.sort(order, (a, b) -> Integer.compare(kinds[a], kinds[b])); // stable
    int[] machine = Arrays.stream(order).mapToInt(m -> m).toArray();
    this.size = Arrays.stream(machine).map(m -> sizes[m]).toArray();
    this.firstDevice = Arrays.stream(machine).map(m -> first[m]).toArray();
    this.kind = Arrays.stream(machine).map(m -> kinds[m]).toArray();
  }

  /**
   * The first device of each machine. Where prices depend on the kind of device, a machine of mixed
   * devices counts as one machine for each run of equal ones.
   */
  private static int[] firstDevices(Cluster cluster, boolean byKind) {
    return IntStream.range(0, cluster.size())
        .filter(device ->
            device == 0
                || cluster.machine(device) != cluster.machine(device - 1)
                || (byKind && !cluster.device(device).equals(cluster.device(device - 1))))
        .toArray();
  }

  private static int[] kinds(Cluster cluster, int[] firstDevice, int[] size) {
    Map<List<Object>, Integer> known = new HashMap<>();
    int[] kinds = new int[firstDevice.length];
    for (int m = 0; m < kinds.length; m++) {
      List<Object> key = new ArrayList<>();
      for (int i = 0; i < size[m]; i++) {
        key.add(cluster.device(firstDevice[m] + i));
      }
      for (int level = 1; level < cluster.levels().size(); level++) {
        key.add(cluster.group(level, firstDevice[m]));
      }
      if (size[m] < cluster.groups().get(0).get(cluster.machine(firstDevice[m]))) {
        key.add(firstDevice[m]); // part of a machine: nothing replaces it
      }
      kinds[m] = known.computeIfAbsent(key, k -> known.size());
    }
    return kinds;
  }

  /** How many states there are when every placement is considered; an upper bound. */
  double stateCount() {
    double product = 1;
    int alike = 0;
    for (int m = 0; m < kind.length; m++) {
      alike = m > 0 && kind[m] == kind[m - 1] ? alike + 1 : 0;
      double pairsOfCounts = (size[m] + 1) * (size[m] + 2) / 2.0;
      product *= (pairsOfCounts + alike) / (alike + 1); // multisets of machines over pairs
    }
    return product;
  }

  int count() {
    return size.length;
  }

  int size(int m) {
    return size[m];
  }

  int kind(int m) {
    return kind[m];
  }

  /**
   * Two device sets by machine, as triples (kind, of the one, of the other), sorted: what prices
   * depend on.
   */
  int[] shape(int[] one, int[] other) {
    int touched = 0;
    for (int m = 0; m < one.length; m++) {
      touched += one[m] > 0 || other[m] > 0 ? 1 : 0;
    }
    long[] triples = new long[touched];
    int at = 0;
    for (int m = 0; m < one.length; m++) {
      if (one[m] > 0 || other[m] > 0) {
        triples[at++] = (long) kind[m] << 40 | (long) one[m] << 20 | other[m];
      }
    }
    Arrays.sort(triples);
    int[] shape = new int[3 * touched];
    for (int i = 0; i < touched; i++) {
      shape[3 * i] = (int) (triples[i] >>> 40);
      shape[3 * i + 1] = (int) (triples[i] >>> 20) & 0xFFFFF;
      shape[3 * i + 2] = (int) triples[i] & 0xFFFFF;
    }
    return shape;
  }

  /** Devices of real machines for one of the two sets of a shape. */
  int[] real(int[] shape, int which) {
    int total = 0;
    for (int i = 0; i < shape.length; i += 3) {
      total += shape[i + 1 + which];
    }
    int[] devices = new int[total];
    int at = 0;
    int m = 0;
    for (int i = 0; i < shape.length; i += 3) {
      while (kind[m] != shape[i]) {
        m++;
      }
      for (int d = 0; d < shape[i + 1 + which]; d++) {
        devices[at++] = firstDevice[m] + d;
      }
      m++;
    }
    Arrays.sort(devices);
    return devices;
  }

  /**
   * Real devices for the stages of a pipeline, from counts by stage and machine: machines that
   * serve earlier stages come first among their kind, devices in stage order.
   */
  List<List<Integer>> number(int[][] taken) {
    int machines = size.length;
    Integer[] order = new Integer[machines];
    Arrays.setAll(order, m -> m);
    Arrays.sort(order, (a, b) -> earlier(taken, a, b));
    int[] real = new int[machines];
    boolean[] given = new boolean[machines];
    for (int m : order) {
      int candidate = 0;
      while (given[candidate] || kind[candidate] != kind[m]) {
        candidate++;
      }
      real[m] = candidate;
      given[candidate] = true;
    }
    int[] next = firstDevice.clone();
    List<List<Integer>> result = new ArrayList<>();
    for (int[] stage : taken) {
      List<Integer> devices = new ArrayList<>();
      for (int m = 0; m < machines; m++) {
        for (int d = 0; d < stage[m]; d++) {
          devices.add(next[real[m]]++);
        }
      }
      devices.sort(null);
      result.add(devices);
    }
    return result;
  }

  private static int earlier(int[][] taken, int a, int b) {
    for (int[] stage : taken) {
      if (stage[a] != stage[b]) {
        return Integer.compare(stage[b], stage[a]);
      }
    }
    return 0;
  }
}
