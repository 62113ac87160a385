package dev.pipewright.app.cli;

import dev.pipewright.formats.PeriodicJson;
import dev.pipewright.planner.periodic.PeriodBound;
import dev.pipewright.planner.periodic.PeriodicPlan;
import dev.pipewright.planner.periodic.PeriodicPlan.Placed;
import dev.pipewright.planner.periodic.PeriodicPlanning;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A periodic planning, as text and as JSON. */
final class PeriodicAnswer {
  private final PeriodicPlanning planning;
  private final ModelArgument.Costed costed;
  private final int samples;
  private final double planningSeconds;

  /**
   * @param samples of a mini-batch
   * @param planningSeconds how long the search took
   */
  PeriodicAnswer(
      PeriodicPlanning planning, ModelArgument.Costed costed, int samples, double planningSeconds) {
    this.planning = planning;
    this.costed = costed;
    this.samples = samples;
    this.planningSeconds = planningSeconds;
  }

  String json() {
    return PeriodicJson.text(
        planning,
        costed.model(),
        costed.cluster(),
        costed.workload().profile().provenance().toString(),
        samples,
        planningSeconds);
  }

  /** Why nothing fits and what would; empty where something does. */
  Optional<String> nothingFits() {
    return planning.best().isPresent() ? Optional.empty() : Optional.of(planning.binding());
  }

  void print(PrintWriter out) {
    out.println(costed.model() + " on " + costed.workload().cluster().name());
    if (planning.best().isEmpty()) {
      return;
    }
    PeriodicPlan plan = planning.best().get();
    out.println();
    out.println(
        "  a mini-batch of %d every %s, %s of %s each"
            .formatted(
                samples,
                Units.seconds(plan.secondsPerBatch()),
                plan.discipline(),
                Units.seconds(plan.pattern().period())));
    PeriodBound bound = planning.bound();
    out.println(
        "  no plan is below %s (%s): gap %s%s"
            .formatted(
                Units.seconds(bound.seconds()),
                bound.why(),
                Units.percent(planning.gap()),
                planning.complete() ? "" : ", the search was cut short"));
    out.println("  " + planning.binding());
    runnerUp(plan).ifPresent(line -> out.println("  " + line));
    out.println();
    stages(out, plan);
  }

  private Optional<String> runnerUp(PeriodicPlan best) {
    if (best.contiguous()) {
      return planning
          .plain()
          .map(plain ->
              "1F1B would take %s (%s)".formatted(Units.seconds(plain.secondsPerBatch()), plain));
    }
    return Optional.of(
        planning
            .contiguous()
            .map(one ->
                "with one stage per device %s, %s times as long (%s)"
                    .formatted(
                        Units.seconds(one.secondsPerBatch()),
                        Units.significant(planning.contiguousRatio()),
                        one.inNetwork(planning.problem().chain())))
            .orElse("with one stage per device nothing fits"));
  }

  private void stages(PrintWriter out, PeriodicPlan plan) {
    double[] bytes = plan.bytes(planning.problem().devices());
    double[] busy = plan.busySeconds(planning.problem().devices());
    int[] held = plan.held();
    PeriodicPlan named = plan.inNetwork(planning.problem().chain());
    for (int device = 0; device < bytes.length; device++) {
      List<String> own = new ArrayList<>();
      for (int stage = 0; stage < held.length; stage++) {
        Placed placed = named.stages().get(stage);
        if (placed.device() == device) {
          StageLoad load = plan.pattern().stages().get(2 * stage);
          own.add(
              "layers %d–%d (%s, %d held)"
                  .formatted(
                      placed.first(),
                      placed.end() - 1,
                      Units.seconds(load.seconds()),
                      held[stage]));
        }
      }
      out.println(
          "  device %d: %s; busy %s, %s of %s"
              .formatted(
                  device,
                  own.isEmpty() ? "idle" : String.join(", ", own),
                  Units.percent(busy[device] / plan.secondsPerBatch()),
                  Units.binary(bytes[device], "B"),
                  Units.binary(planning.problem().capacityBytes(), "B")));
    }
  }
}
