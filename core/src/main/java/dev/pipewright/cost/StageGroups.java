package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import java.util.Arrays;

/**
 * The devices of a stage as groups that communicate: those that divide each layer, and those that
 * hold the same part of it.
 *
 * @param devices tensor-parallel groups one after the other
 * @param tensor over each tensor-parallel group, all at once
 * @param data over the devices that hold the same part, for all parts at once
 * @param all over all devices of the stage
 * @param leaders over the first device of each tensor-parallel group
 * @param slowdown of the slowest device
 * @param capacity bytes of the smallest device
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record StageGroups(
    int[] devices,
    Collectives tensor,
    Collectives data,
    Collectives all,
    Collectives leaders,
    double slowdown,
    long capacity) {
  /** Groups of {@code parts} devices, in the order given. */
  public static StageGroups of(StageCosts costs, int[] devices, int parts) {
    Cluster cluster = costs.workload().cluster();
    int replicas = devices.length / parts;
    int[][] tensor = new int[replicas][parts];
    int[][] data = new int[parts][replicas];
    double slowdown = 0;
    long capacity = Long.MAX_VALUE;
    for (int i = 0; i < devices.length; i++) {
      tensor[i / parts][i % parts] = devices[i];
      data[i % parts][i / parts] = devices[i];
      slowdown = Math.max(slowdown, costs.slowdown(devices[i]));
      capacity = Math.min(capacity, cluster.device(devices[i]).memory().value());
    }
    for (int[] group : data) {
      Arrays.sort(group); // the second direction of a schedule may come first
    }
    Collectives same = Collectives.achieved(cluster, data);
    int[] everyone = devices.clone();
    Arrays.sort(everyone);
    return new StageGroups(
        devices,
        Collectives.achieved(cluster, tensor),
        same,
        parts == 1 ? same : Collectives.achieved(cluster, everyone),
        parts == 1 ? same : Collectives.achieved(cluster, data[0]),
        slowdown,
        capacity);
  }
}
