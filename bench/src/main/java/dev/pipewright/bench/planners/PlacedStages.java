package dev.pipewright.bench.planners;

import dev.pipewright.cost.Workload;
import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.OperatorGraph.Devices;
import dev.pipewright.planner.placement.OperatorPlacement;
import dev.pipewright.planner.placement.PlacementPlanner;
import dev.pipewright.planner.placement.PlacementRequest;
import dev.pipewright.planner.placement.PlacementResult;
import dev.pipewright.planner.placement.TrainingGraph;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The contiguous placement of Tarnawski et al. as a pipeline: each device's layers in turn. Where a
 * border is none at which the chain can be cut, what it divides stays together.
 */
final class PlacedStages {
  private static final double SECONDS = 1;

  private PlacedStages() {}

  static List<Proposal> of(PlannedNetwork network) {
    Workload workload = network.costs().workload();
    int outermost = network.cluster().levels().size() - 1;
    OperatorGraph graph =
        TrainingGraph.training(
            network.chain().graph(),
            workload.profile(),
            new Devices(network.devices(), 0, network.cluster().device(0).memory().value()),
            network.microBatch(),
            network.cluster().levels().get(outermost).pointToPoint().bandwidth().value(),
            1);
    PlacementResult answer =
        PlacementPlanner.plan(graph, PlacementRequest.contiguous().until(within(SECONDS)));
    return answer instanceof PlacementResult.Placed placed
        ? List.of(proposal(network, placed.best()))
        : List.of();
  }

  private static BooleanSupplier within(double seconds) {
    long end = System.nanoTime() + (long) (1e9 * seconds);
    return () -> System.nanoTime() > end;
  }

  private static Proposal proposal(PlannedNetwork network, OperatorPlacement placement) {
    int layers = network.chain().graph().size();
    List<Integer> firsts = new ArrayList<>();
    List<List<Integer>> devices = new ArrayList<>();
    Set<Integer> done = new HashSet<>();
    int first = 0;
    for (OperatorPlacement.Device device : placement.devices()) {
      device.operators().stream().filter(operator -> operator < layers).forEach(done::add);
      int end = end(network, done, first);
      if (end > first) {
        firsts.add(first);
        devices.add(List.of(devices.size()));
        first = end;
      }
    }
    return new Proposal.Stages(firsts, devices);
  }

  /** The place in the chain with exactly these layers before it; {@code from} where none has. */
  private static int end(PlannedNetwork network, Set<Integer> done, int from) {
    for (int end = from + 1; end <= network.chain().size(); end++) {
      int[] layers = network.chain().layers(-1, end - 1);
      if (layers.length == done.size() && Arrays.stream(layers).allMatch(done::contains)) {
        return end;
      }
    }
    return from;
  }
}
