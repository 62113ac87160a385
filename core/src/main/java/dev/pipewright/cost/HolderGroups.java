package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.plan.Assignment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.function.IntFunction;

/**
 * The groups in which the workers that hold a stage do something together, as all of them do at the
 * same time.
 *
 * @param same workers that hold the same part of it
 * @param all who hold it
 * @param tensorGroups workers that compute the same samples together
 * @param leaders the first of each tensor-parallel group
 */
public record HolderGroups(
    Collectives same, Collectives all, Collectives tensorGroups, Collectives leaders) {
  /**
   * Those of a stage of a chain.
   *
   * @param device of each worker
   */
  public static HolderGroups of(
      Cluster cluster, Assignment assignment, int depth, IntFunction<Integer> device) {
    List<Integer> holders = assignment.holders(depth);
    TreeMap<Integer, List<Integer>> byPart = new TreeMap<>();
    TreeMap<Integer, List<Integer>> byTensorGroup = new TreeMap<>();
    for (int worker : holders) {
      byPart.computeIfAbsent(assignment.partOf(worker), part -> new ArrayList<>()).add(worker);
      byTensorGroup
          .computeIfAbsent(assignment.tensorGroup(worker).get(0), t -> new ArrayList<>())
          .add(worker);
    }
    return new HolderGroups(
        group(cluster, byPart.values(), device),
        group(cluster, List.of(holders), device),
        group(cluster, byTensorGroup.values(), device),
        group(cluster, List.of(List.copyOf(byTensorGroup.keySet())), device));
  }

  /** Groups that communicate at the same time, by worker. */
  public static Collectives group(
      Cluster cluster, Collection<List<Integer>> groups, IntFunction<Integer> device) {
    List<int[]> found = new ArrayList<>();
    for (List<Integer> workers : groups) {
      found.add(workers.stream().map(device::apply).mapToInt(Integer::intValue).sorted().toArray());
    }
    return Collectives.achieved(cluster, found.toArray(int[][]::new));
  }
}
