package dev.pipewright.planner.placement;

import dev.pipewright.planner.placement.OperatorGraph.Devices;
import dev.pipewright.planner.placement.OperatorGraph.Operator;
import dev.pipewright.planner.placement.PlacementResult.NoRoom;
import dev.pipewright.planner.placement.PlacementResult.Placed;
import java.util.List;
import java.util.OptionalInt;

/**
 * What would have to be there for anything to fit: the same search with bytes for times. Something
 * always fits where there is a processor, whose memory is not limited.
 */
final class Room {
  private static final int FEW_IDEALS = 20_000;

  private final OperatorGraph graph;
  private final PlacementRequest request;

  private Room(OperatorGraph graph, PlacementRequest request) {
    this.graph = graph;
    this.request = request;
  }

  static NoRoom needed(OperatorGraph graph, PlacementRequest request) {
    int unsupported = -1;
    for (int i = graph.size() - 1; i >= 0; i--) {
      unsupported = graph.operator(i).onAccelerator() ? unsupported : i;
    }
    if (unsupported >= 0) {
      return new NoRoom(Double.POSITIVE_INFINITY, OptionalInt.empty(), unsupported);
    }
    PlacementRequest few =
        PlacementRequest.contiguous().atMost(Math.min(FEW_IDEALS, request.mostIdeals()));
    Room room = new Room(graph, request.linearize() ? few.linearized() : few);
    return new NoRoom(room.bytes(graph.devices().accelerators()), room.accelerators(), -1);
  }

  /** The least memory of each of so many accelerators with which something fits. */
  private double bytes(int accelerators) {
    List<Operator> sized = graph.operators().stream().map(Room::sized).toList();
    Devices devices = new Devices(accelerators, 0, Double.POSITIVE_INFINITY);
    OperatorGraph bytes = new OperatorGraph(graph.name(), devices, sized, graph.edges());
    PlacementResult answer = PlacementPlanner.plan(bytes, request);
    if (!(answer instanceof Placed)) {
      answer = PlacementPlanner.plan(bytes, request.linearized());
    }
    return answer instanceof Placed placed ? placed.best().maxLoad() : Double.POSITIVE_INFINITY;
  }

  private static Operator sized(Operator of) {
    double bytes = of.bytes();
    return new Operator(of.id(), of.name(), true, 0, bytes, 0, 0, of.backward(), of.colour());
  }

  private OptionalInt accelerators() {
    double capacity = graph.devices().acceleratorBytes();
    int few = graph.devices().accelerators();
    int most = Math.min(graph.size(), OperatorGraph.MOST_DEVICES);
    if (most <= few || bytes(most) > capacity) {
      return OptionalInt.empty();
    }
    int many = Math.min(most, Math.max(1, 2 * few));
    while (many < most && bytes(many) > capacity) {
      few = many;
      many = Math.min(most, 2 * many);
    }
    while (many - few > 1) {
      int middle = (few + many) / 2;
      if (bytes(middle) <= capacity) {
        many = middle;
      } else {
        few = middle;
      }
    }
    return OptionalInt.of(many);
  }
}
