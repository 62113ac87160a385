package dev.pipewright.formats;

import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.plan.OperatorPlan;
import dev.pipewright.plan.OperatorPlan.Device;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** Reads the placements of operators that {@link PlacementAnswerJson} writes. */
final class PlacementReader {
  static final List<String> PLAN_KEYS =
      PlanKeys.joined(List.of(PlanKeys.HEAD, List.of("contiguous", "stages"), List.of("model")));
  static final List<String> ANSWER_KEYS =
      PlanKeys.joined(List.of(PlanJson.ANSWER_KEYS, List.of("devices", "gap")));
  static final List<String> STAGE_KEYS =
      List.of("devices", "kind", "load", "compute", "transfers", "memory_bytes", "nodes", "names");

  /** Words of the kinds, and whether they are processors. */
  private static final Map<String, Boolean> KINDS = Map.of("cpu", true, "fpga", false);

  private PlacementReader() {}

  static PlanFile<OperatorPlan> read(PlanTree tree) {
    PlanTree.Members members = tree.members(PLAN_KEYS, ANSWER_KEYS);
    Node list = members.inner().required("stages");
    if (list.list().isEmpty()) {
      throw list.wrong("stages is empty; give a device with its nodes");
    }
    List<Device> devices = new ArrayList<>();
    Map<Integer, Integer> stageOf = new HashMap<>(); // of a device
    Map<Long, Integer> known = new HashMap<>(); // the stage of a node
    for (Node stage : list.list()) {
      devices.add(device(stage, devices.size(), stageOf, known));
    }
    boolean contiguous = members.inner().optional("contiguous").map(Node::flag).orElse(false);
    return new PlanFile<>(
        new OperatorPlan(contiguous, devices),
        members.madeFor(),
        new PlanFigures(tree),
        OptionalDouble.empty());
  }

  private static Device device(
      Node stage, int number, Map<Integer, Integer> stageOf, Map<Long, Integer> known) {
    Fields fields = stage.object(STAGE_KEYS);
    List<Integer> devices = fields.counts("devices", 0);
    if (devices.size() != 1) {
      throw fields
          .required("devices")
          .wrong(
              "%s names %d devices; nodes are on one"
                  .formatted(fields.required("devices").place(), devices.size()));
    }
    Integer other = stageOf.putIfAbsent(devices.get(0), number);
    if (other != null) {
      throw fields
          .required("devices")
          .unsound(
              "device %d is in stages[%d] and stages[%d]; list its nodes in one"
                  .formatted(devices.get(0), other, number));
    }
    List<Long> nodes = new ArrayList<>();
    for (Node node : fields.required("nodes").list()) {
      long id = node.id();
      Integer first = known.putIfAbsent(id, number);
      if (first != null) {
        throw node.unsound(
            "node %d is in stages[%d] and %s; leave it in one"
                .formatted(id, first, first == number ? "there again" : "stages[" + number + "]"));
      }
      nodes.add(id);
    }
    return new Device(fields.required("kind").word(KINDS), nodes);
  }
}
