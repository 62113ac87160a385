package dev.pipewright.app.cli.train;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.ClusterNames;
import java.util.List;
import java.util.Optional;

/**
 * The machines that a plan counts on. Each has as many workers as a pod of a manifest that fits.
 */
final class PlannedNodes {
  private PlannedNodes() {}

  /**
   * Throws where pods would hold other workers than the machines of the plan's cluster, over whose
   * links it was planned. Nothing is known of plans that do not say their cluster.
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
    List<Integer> machines = devices.stream().map(cluster.get()::machine).toList();
    List<Integer> order = machines.stream().distinct().toList();
    if (order.size() != nodes) {
      throw new BadInputException(
          "--nodes: the plan uses %s of %s, which %s cannot stand for; give --nodes %d"
              .formatted(
                  count(order.size(), "machine"),
                  cluster.get().name(),
                  count(nodes, "pod"),
                  order.size()));
    }
    for (int worker = 0; worker < devices.size(); worker++) {
      if (order.indexOf(machines.get(worker)) != pod(worker, devices.size(), nodes)) {
        throw new BadInputException(
            "k8s: the plan shares its workers over the machines of %s as %s, but pods take them evenly and in order; plan for machines that are used so"
                .formatted(cluster.get().name(), machines));
      }
    }
  }

  /** The pod of a worker: the first ones have one more where not all can have as many. */
  private static int pod(int worker, int workers, int pods) {
    int more = workers % pods;
    int most = workers / pods + 1;
    return worker < more * most ? worker / most : (worker - more) / (workers / pods);
  }

  private static String count(int count, String noun) {
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
