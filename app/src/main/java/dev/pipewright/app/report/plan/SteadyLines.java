package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.formats.SteadyFigures;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How long a plan without flushes takes, as the simulator runs it and by the formula of its
 * planner, and why these differ.
 *
 * @param simulated empty where a run until the steady state would take too long
 * @param oneDeviceSeconds one device doing everything, its update included
 */
public record SteadyLines(Optional<SteadyFigures> simulated, double oneDeviceSeconds) {
  /** A name and what it is. */
  record Line(String words, String value) {}

  /**
   * The lines of a report.
   *
   * @param what is counted: a mini-batch, or an update
   * @param objective seconds by the formula
   * @param planner whose formula it is
   */
  List<Line> of(String what, double objective, String planner) {
    List<Line> lines = new ArrayList<>();
    String formula = "%s, which %s minimises".formatted(Units.seconds(objective), planner);
    if (simulated.isPresent()) {
      SteadyFigures run = simulated.get();
      lines.add(new Line(what, Units.seconds(run.seconds()) + " simulated, in the steady state"));
      boolean same = run.difference().equals("none");
      lines.add(
          new Line("objective", formula + (same ? ", as simulated" : "; " + run.difference())));
      lines.add(
          new Line(
              "idle",
              Units.percent(run.idleShare()) + " of the devices' time, once the pipeline is full"));
    } else {
      lines.add(new Line(what, formula + "; the steady state is too long to be simulated"));
    }
    double seconds = simulated.map(SteadyFigures::seconds).orElse(objective);
    lines.add(
        new Line(
            "speed-up",
            "%s over one device (%s)"
                .formatted(
                    Numbers.times(oneDeviceSeconds / seconds), Units.seconds(oneDeviceSeconds))));
    return lines;
  }
}
