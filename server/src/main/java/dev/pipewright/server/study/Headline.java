package dev.pipewright.server.study;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.units.Units;
import java.nio.file.Path;
import java.util.Map;

/** An answer of {@code plan} in a few words, for lists. */
final class Headline {
  private Headline() {}

  /** Empty where there is no plan. */
  static String of(String answer) {
    if (answer.isBlank()) {
      return "";
    }
    Map<String, Node> members = Tree.json(Path.of("answer.json"), answer).members();
    if (members.containsKey("front")) {
      return "front of " + members.get("front").elements().size() + " plans";
    }
    Node simulated = members.get("simulated");
    if (simulated == null || !simulated.is(Node.Type.OBJECT)) {
      return "";
    }
    double peak =
        simulated.members().get("peak_bytes").elements().stream()
            .mapToDouble(Node::finite)
            .max()
            .orElse(0);
    return "%s per step, %s"
        .formatted(
            Units.seconds(simulated.members().get("step_s").finite()), Numbers.bytes(peak));
  }
}
