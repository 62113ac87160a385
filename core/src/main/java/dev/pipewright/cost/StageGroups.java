package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.parallel.Parallelism;
import java.util.Arrays;
import java.util.List;

/**
 * The devices of a stage as groups that communicate: those that divide each layer, and those that
 * hold the same part of it.
 *
 * @param devices tensor-parallel groups one after the other, each copy by copy where it has several
 * @param tensor over each tensor-parallel group or {@linkplain Parallelism#copies copy}, all at
 *     once
 * @param context over the devices that hold the same part for other tokens of the same samples, all
 *     at once; {@link Collectives#NONE} without copies
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
    Collectives context,
    Collectives data,
    Collectives all,
    Collectives leaders,
    double slowdown,
    long capacity) {
  /** Groups of devices that divide layers so, in the order given. */
  public static StageGroups of(StageCosts costs, int[] devices, Parallelism parallelism) {
    return of(costs, devices, parallelism.copies(), parallelism.pieces());
  }

  /** Copies of {@code parts} devices. */
  static StageGroups of(StageCosts costs, int[] devices, int copies, int parts) {
    Cluster cluster = costs.workload().cluster();
    int holders = devices.length / parts; // of each part
    int[][] tensor = new int[holders][parts];
    int[][] data = new int[parts][holders];
    int[][] context = new int[devices.length / copies][copies];
    double slowdown = 0;
    long capacity = Long.MAX_VALUE;
    for (int i = 0; i < devices.length; i++) {
      tensor[i / parts][i % parts] = devices[i];
      data[i % parts][i / parts] = devices[i];
      int group = i / (copies * parts);
      context[group * parts + i % parts][i / parts % copies] = devices[i];
      slowdown = Math.max(slowdown, costs.slowdown(devices[i]));
      capacity = Math.min(capacity, cluster.device(devices[i]).memory().value());
    }
    for (int[][] groups : List.of(tensor, context, data)) {
      for (int[] group : groups) {
        Arrays.sort(group); // the second direction of a schedule may come first
      }
    }
    Collectives same = Collectives.achieved(cluster, data);
    int[] everyone = devices.clone();
    Arrays.sort(everyone);
    return new StageGroups(
        devices,
        Collectives.achieved(cluster, tensor),
        copies == 1 ? Collectives.NONE : Collectives.achieved(cluster, context),
        same,
        parts == 1 ? same : Collectives.achieved(cluster, everyone),
        parts == 1 ? same : Collectives.achieved(cluster, data[0]),
        slowdown,
        capacity);
  }
}
