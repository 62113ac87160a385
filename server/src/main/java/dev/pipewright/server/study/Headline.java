package dev.pipewright.server.study;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.formats.json.Node;
import dev.pipewright.units.Units;

/** An answer of {@code plan} in a few words, for lists. */
final class Headline {
  private Headline() {}

  /** Empty where there is no plan. */
  static String of(String answer) {
    Members members = Members.of(answer);
    if (members.has("front")) {
      return "front of " + members.list("front").size() + " plans";
    }
    Members simulated = members.member("simulated");
    if (!simulated.has("step_s")) {
      return "";
    }
    double peak = simulated.list("peak_bytes").stream().mapToDouble(Node::finite).max().orElse(0);
    return "%s per step, %s"
        .formatted(Units.seconds(simulated.number("step_s")), Numbers.bytes(peak));
  }
}
