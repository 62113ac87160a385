package dev.pipewright.planner.madpipe;

import dev.pipewright.planner.madpipe.PlacedPattern.Placed;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.periodic.Discipline;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.units.Units;
import java.util.Optional;

/** What keeps a periodic plan from being faster, in words. */
final class PeriodicBinding {
  private static final double NEARLY = 1 - 1e-6;

  private PeriodicBinding() {}

  static String words(PeriodicPlanning planning) {
    Optional<PlacedPattern> best = planning.best();
    if (best.isEmpty()) {
      return nothingFits(planning.problem());
    }
    PlacedPattern plan = best.get();
    double once = plan.secondsPerBatch() / plan.discipline().stretch();
    double[] busy = plan.busySeconds(planning.problem().devices());
    int busiest = largest(busy);
    if (busy[busiest] >= once * NEARLY) {
      return dropped(plan, once)
          + "device %d computes all the time: %s for each batch"
              .formatted(busiest, Units.seconds(busy[busiest]));
    }
    for (int cut = 1; cut < plan.pattern().stages().size(); cut += 2) {
      double seconds = plan.pattern().stages().get(cut).seconds();
      if (seconds >= once * NEARLY) {
        return dropped(plan, once)
            + "the transfers between stages %d and %d take %s for each batch"
                .formatted(cut / 2, cut / 2 + 1, Units.seconds(seconds));
      }
    }
    return dropped(plan, once) + memory(planning.problem(), plan);
  }

  private static int largest(double[] values) {
    int largest = 0;
    for (int i = 1; i < values.length; i++) {
      largest = values[i] > values[largest] ? i : largest;
    }
    return largest;
  }

  private static String dropped(PlacedPattern plan, double once) {
    return plan.discipline() instanceof Discipline.Dropping dropping
        ? "memory lets only %d of %d batches through, one every %s; "
            .formatted(dropping.batches(), dropping.batches() + 1, Units.seconds(once))
        : "";
  }

  /** The stage for which one batch more comes nearest to fitting. */
  private static String memory(PeriodicProblem problem, PlacedPattern plan) {
    double[] bytes = problem.bytes(plan);
    int[] held = plan.held();
    int nearest = 0;
    double most = -1;
    for (int stage = 0; stage < held.length; stage++) {
      StageLoad load = plan.pattern().stages().get(2 * stage);
      Placed placed = plan.stages().get(stage);
      double more = bytes[placed.device()] + load.activationBytes();
      if (more > most) {
        most = more;
        nearest = stage;
      }
    }
    return "memory: stage %d holds %s, and one more would take device %d to %s of %s"
        .formatted(
            nearest,
            held[nearest] == 1 ? "1 batch" : held[nearest] + " batches",
            plan.stages().get(nearest).device(),
            Units.binary(most, "B"),
            Units.binary(problem.memoryBytes(), "B"));
  }

  private static String nothingFits(PeriodicProblem problem) {
    Recomputation again = problem.recomputation();
    double least =
        LeastMemory.bytes(problem.chain(), problem.stages().orElse(problem.devices()), again);
    int devices = LeastMemory.devices(problem.chain(), problem.capacityBytes(), again);
    return "the devices have %s each; %s on each of the %d would do"
            .formatted(
                Units.binary(problem.memoryBytes(), "B"),
                Units.binary((least + problem.workingBytes()) * (1 + 5e-4), "B"),
                problem.devices())
        + (devices > 0 && problem.stages().isEmpty() ? ", or %d devices".formatted(devices) : "");
  }
}
