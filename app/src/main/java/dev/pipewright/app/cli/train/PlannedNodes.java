package dev.pipewright.app.cli.train;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.ClusterNames;
import java.util.List;
import java.util.Optional;

/** The machines that a plan counts on: as many as a manifest must have pods. */
final class PlannedNodes {
  private PlannedNodes() {}

  /**
   * Throws where there would be more or fewer pods than machines that the plan uses. Nothing is
   * known of plans that do not say their cluster.
   */
  static void requireSame(Optional<TrainingStages> plan, int nodes) {
    Optional<Cluster> cluster =
        plan.flatMap(file -> file.madeFor().cluster()).flatMap(PlannedNodes::cluster);
    if (plan.isEmpty() || cluster.isEmpty()) {
      return;
    }
    List<Integer> devices = plan.get().devices();
    if (devices.stream().anyMatch(device -> device >= cluster.get().size())) {
      return; // another cluster has the name by now
    }
    long machines = devices.stream().map(cluster.get()::machine).distinct().count();
    if (machines != nodes) {
      throw new BadInputException(
          "--nodes: the plan uses %s of %s, which %s cannot stand for; give --nodes %d"
              .formatted(
                  count(machines, "machine"), cluster.get().name(), count(nodes, "pod"), machines));
    }
  }

  private static String count(long count, String noun) {
    return count + " " + noun + (count == 1 ? "" : "s");
  }

  private static Optional<Cluster> cluster(String name) {
    try {
      return Optional.of(ClusterNames.resolve(name));
    } catch (BadInputException e) { // a file that is elsewhere
      return Optional.empty();
    }
  }
}
