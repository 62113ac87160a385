package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Units;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeSet;

/**
 * How much of a cluster to use. Sizes that make sense are powers of two within a machine, and whole
 * machines: the first devices of the cluster each time. Whether a network fits, or is fast enough,
 * does not follow from a smaller or a larger size, since batches divide by some numbers of devices
 * and not by others; so sizes are tried one after the other, and only a proof skips one.
 */
public final class ClusterSizes {
  /** Up to so many machines every number of them is worth its price. */
  private static final int EVERY_MACHINE = 8;

  private ClusterSizes() {}

  /** Numbers of devices, ascending: powers of two within the first machine, then whole machines. */
  public static List<Integer> all(Cluster cluster) {
    TreeSet<Integer> sizes = new TreeSet<>();
    int machine = cluster.groups().get(0).get(0);
    for (int count = 1; count < machine; count *= 2) {
      sizes.add(count);
    }
    int devices = 0;
    for (int of : cluster.groups().get(0)) {
      devices += of;
      sizes.add(devices);
    }
    return List.copyOf(sizes);
  }

  /** Some of them: of many machines powers of two and all. */
  public static List<Integer> some(Cluster cluster) {
    List<Integer> machines = cluster.groups().get(0);
    if (machines.size() <= EVERY_MACHINE) {
      return all(cluster);
    }
    TreeSet<Integer> sizes =
        new TreeSet<>(all(cluster).stream().filter(size -> size < machines.get(0)).toList());
    int devices = 0;
    for (int machine = 0; machine < machines.size(); machine++) {
      devices += machines.get(machine);
      boolean power = Integer.bitCount(machine + 1) == 1;
      if (power || machine == machines.size() - 1) {
        sizes.add(devices);
      }
    }
    return List.copyOf(sizes);
  }

  /**
   * A proof that no plan fits, or that none is fast enough; empty where only a search can say. All
   * states of the network lie on some device at least once, and devices do all passes between them.
   *
   * @param costs of the network on the devices
   * @param targetSeconds of a step, where there is such a limit
   */
  public static Optional<String> impossible(
      StageCosts costs, int globalBatch, CostModel costModel, OptionalDouble targetSeconds) {
    if (costModel != CostModel.PIPEWRIGHT) {
      return Optional.empty(); // others count less than all work, or no memory
    }
    double capacity =
        costs.workload().cluster().devices().stream()
            .mapToDouble(kind -> (double) kind.memory().value())
            .sum();
    double states = costs.staticBytes(0, costs.size());
    if (states > capacity * (1 + 1e-9)) {
      return Optional.of(
          "parameters, gradients and optimizer state take %s, and its memory is %s"
              .formatted(Bytes.of(states), Bytes.of(capacity)));
    }
    double work = LowerBounds.workSeconds(costs, globalBatch);
    return targetSeconds.isPresent() && work > targetSeconds.getAsDouble() * (1 + 1e-9)
        ? Optional.of("no step is shorter than %s (work / devices)".formatted(Units.seconds(work)))
        : Optional.empty();
  }
}
