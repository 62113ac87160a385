package dev.pipewright.app.report;

import dev.pipewright.planner.memory.HybridPlan;
import dev.pipewright.units.Units;
import java.util.OptionalDouble;

/** A simulated step of a plan whose stages may divide tensors, for a terminal. */
public final class HybridText {
  private HybridText() {}

  /**
   * The report without pictures, each line ended by a newline.
   *
   * @param seconds of the simulated step
   * @param expected by the planner in the simulator, where its file says
   */
  public static String of(
      String title,
      HybridPlan plan,
      double seconds,
      OptionalDouble expected,
      int columns,
      boolean colours) {
    Ink ink = new Ink(colours);
    StringBuilder out = new StringBuilder();
    TextWidth.heading(out, ink, title, columns);
    out.append("  pipeline: ")
        .append(Words.count(plan.stages().size(), "stage"))
        .append(", schedule ")
        .append(plan.policy().schedule())
        .append(", ")
        .append(plan.microBatches())
        .append(" × ")
        .append(plan.microBatch())
        .append(" samples\n\n");
    FigureLine.append(
        out,
        ink,
        columns,
        "step",
        Units.seconds(seconds)
            + " simulated; "
            + Words.against("estimate", plan.stepSeconds(), seconds));
    if (expected.isPresent()) {
      FigureLine.append(
          out, ink, columns, "planned", planned(expected.getAsDouble(), seconds, "simulation"));
    }
    FigureLine.append(
        out, ink, columns, "peak memory", Numbers.bytes(plan.peakBytes()) + " on a device");
    out.append('\n');
    TerminalTable.append(out, MemoryPlanText.stages(plan, true), columns, ink);
    return out.toString();
  }

  /** {@code 1.00 ms; the simulation +2.0 %}, or that both say the same. */
  public static String planned(double expected, double found, String what) {
    if (expected == 0 || Units.seconds(expected).equals(Units.seconds(found))) {
      return expected == 0 ? Units.seconds(expected) : "the same";
    }
    return Units.seconds(expected) + "; the " + what + " " + Numbers.change(found / expected - 1);
  }
}
