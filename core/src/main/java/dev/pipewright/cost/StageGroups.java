package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.exchange.HeldBy;
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
 * @param betweenCopies over the devices that hold the same part for other tokens of the same
 *     samples, or all of a group where they divide experts, all at once; {@link Collectives#NONE}
 *     without copies
 * @param data over the devices that hold the same part, for all parts at once
 * @param experts over those that hold the same experts
 * @param all over all devices of the stage
 * @param leaders over the first device of each tensor-parallel group
 * @param slowdown of the slowest device
 * @param capacity bytes of the smallest device
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record StageGroups(
    int[] devices,
    Collectives tensor,
    Collectives betweenCopies,
    Collectives data,
    Collectives experts,
    Collectives all,
    Collectives leaders,
    double slowdown,
    long capacity) {
  /**
   * What groups look like.
   *
   * @param parts devices of each copy
   * @param experts whether all devices of a group with copies divide experts
   */
  record Division(int copies, int parts, boolean experts) {
    static Division of(Parallelism parallelism) {
      boolean experts = parallelism.nested() && parallelism.expertParts() > 1;
      return new Division(parallelism.copies(), parallelism.pieces(), experts);
    }
  }

  /** Groups of devices that divide layers so, in the order given. */
  public static StageGroups of(StageCosts costs, int[] devices, Parallelism parallelism) {
    return of(costs, devices, Division.of(parallelism));
  }

  static StageGroups of(StageCosts costs, int[] devices, Division division) {
    Cluster cluster = costs.workload().cluster();
    int parts = division.parts();
    int members = division.copies() * parts;
    int[][] tensor = new int[devices.length / parts][parts];
    int[][] group = new int[devices.length / members][members];
    int[][] context = new int[devices.length / division.copies()][division.copies()];
    int[][] data = new int[parts][devices.length / parts];
    int[][] experts = new int[members][devices.length / members];
    double slowdown = 0;
    long capacity = Long.MAX_VALUE;
    for (int i = 0; i < devices.length; i++) {
      tensor[i / parts][i % parts] = devices[i];
      group[i / members][i % members] = devices[i];
      context[i / members * parts + i % parts][i / parts % division.copies()] = devices[i];
      data[i % parts][i / parts] = devices[i];
      experts[i % members][i / members] = devices[i];
      slowdown = Math.max(slowdown, costs.slowdown(devices[i]));
      capacity = Math.min(capacity, cluster.device(devices[i]).memory().value());
    }
    for (int[][] groups : List.of(tensor, group, context, data, experts)) {
      for (int[] each : groups) {
        Arrays.sort(each); // the second direction of a schedule may come first
      }
    }
    Collectives same = Collectives.achieved(cluster, data);
    int[] everyone = devices.clone();
    Arrays.sort(everyone);
    Collectives between =
        division.experts()
            ? Collectives.achieved(cluster, group)
            : division.copies() == 1 ? Collectives.NONE : Collectives.achieved(cluster, context);
    return new StageGroups(
        devices,
        Collectives.achieved(cluster, tensor),
        between,
        same,
        division.experts() ? Collectives.achieved(cluster, experts) : same,
        parts == 1 ? same : Collectives.achieved(cluster, everyone),
        parts == 1 ? same : Collectives.achieved(cluster, data[0]),
        slowdown,
        capacity);
  }

  /** Over those who hold the same. */
  Collectives of(HeldBy holders) {
    return switch (holders) {
      case SAME_PART -> data;
      case SAME_EXPERTS -> experts;
      case STAGE -> all;
    };
  }
}
