package dev.pipewright.formats;

import dev.pipewright.plan.Plan;
import dev.pipewright.planner.memory.Degrees;
import dev.pipewright.planner.memory.HybridShape;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Plans of synchronous training whose stages may divide tensors: like {@link PlanJson}, and of each
 * stage {@code kind}, {@code data} and {@code tensor}.
 */
public final class HybridJson {
  /** What a stage says besides; degrees that are left out are 1. */
  static final List<String> KEYS = List.of("kind", "data", "tensor");

  private static final List<String> STAGE_KEYS =
      PlanJson.joined(List.of(PlanJson.STAGE_KEYS, KEYS));
  private static final List<String> KINDS = List.of("data", "tensor", "data+tensor", "one device");

  private HybridJson() {}

  static HybridFile read(PlanTree tree) {
    PlanTree.Members members = tree.members(PlanJson.PLAN_KEYS, PlanJson.ANSWER_KEYS);
    Plan plan = PlanJson.plan(members.inner(), STAGE_KEYS);
    Node list = members.inner().required("stages");
    List<Degrees> degrees = new ArrayList<>();
    for (int stage = 0; stage < plan.stages().size(); stage++) {
      degrees.add(degrees(list.list().get(stage), plan.stages().get(stage).replicas()));
    }
    return new HybridFile(
        list.checked(() -> new HybridShape(plan, degrees)),
        members.madeFor(),
        new PlanFigures(tree),
        members.figure("simulated", "step_s"));
  }

  private static Degrees degrees(Node stage, int devices) {
    Fields fields = stage.object(STAGE_KEYS);
    int tensor = fields.optional("tensor").map(node -> node.count(1)).orElse(1);
    int data =
        fields.optional("data").map(node -> node.count(1)).orElse(Math.max(1, devices / tensor));
    Degrees degrees = new Degrees(data, tensor);
    Optional<Node> kind = fields.optional("kind");
    if (kind.isPresent()) {
      Map<String, String> words = new LinkedHashMap<>();
      KINDS.forEach(word -> words.put(word, word));
      String word = kind.get().word(words);
      if (!word.equals(degrees.kind())) {
        throw kind.get()
            .unsound(
                "%s is \"%s\", but data %d and tensor %d are \"%s\"; make them agree"
                    .formatted(kind.get().place(), word, data, tensor, degrees.kind()));
      }
    }
    return degrees;
  }

  /** What a stage says beside its layers and devices. */
  public static void put(Map<String, Object> stage, Degrees degrees) {
    stage.put("kind", degrees.kind());
    stage.put("data", degrees.data());
    stage.put("tensor", degrees.tensor());
  }
}
