package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.TrainingLines;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/** The headline figures of a plan. */
final class HeadlineFigures {
  private HeadlineFigures() {}

  /** The figures of the best plan; none when nothing fits. */
  static List<Figure> of(Picture picture) {
    List<Figure> figures = new ArrayList<>();
    Planning planning = picture.planning();
    if (planning.best().isPresent()) {
      Candidate best = planning.best().get();
      boolean memoryFirst = planning.objective() == Objective.PEAK_MEMORY;
      if (memoryFirst) {
        figures.add(peakMemory(best.decisive()));
        figures.add(lowerBound(planning, best));
      }
      if (!Double.isNaN(best.seconds())) {
        figures.add(stepTime(best));
        best.p95().ifPresent(tail -> figures.add(p95(best, tail)));
        figures.add(speedUp(planning, best));
      }
      if (!memoryFirst) {
        if (planning.lowerBound().value() > 0 || planning.objective() != Objective.P95) {
          figures.add(lowerBound(planning, best));
        }
        figures.add(peakMemory(best.decisive()));
      }
      double idle = picture.idleShare();
      if (!Double.isNaN(idle)) {
        figures.add(new Figure("idle", Units.percent(idle), idleNote(picture)));
      }
      picture.training().ifPresent(training -> figures.addAll(TrainingLines.figures(training)));
    }
    return figures;
  }

  private static String idleNote(Picture picture) {
    return "of the devices' time without a pass"
        + picture
            .timeline()
            .map(step -> Units.percent(step.spanIdleShare()))
            .filter(share -> !share.equals(Units.percent(0)))
            .map(share -> "; " + share + " of the longest span")
            .orElse("");
  }

  private static Figure stepTime(Candidate best) {
    double estimate = best.estimate().stepSeconds();
    if (best.simulated().isEmpty()) {
      return new Figure("step time", Units.seconds(estimate), "estimated");
    }
    double simulated = best.simulated().get().stepSeconds();
    return new Figure(
        "step time",
        Units.seconds(simulated),
        "simulated; " + Words.against("estimate", estimate, simulated));
  }

  private static Figure p95(Candidate best, double tail) {
    return new Figure(
        "p95 step",
        Units.seconds(tail),
        "the 95th percentile where durations vary, %s of the step without"
            .formatted(Numbers.times(tail / best.seconds())));
  }

  private static Figure speedUp(Planning planning, Candidate best) {
    String one = "over one device (" + Units.seconds(planning.serialSeconds()) + ")";
    return best.seconds() > 0
        ? new Figure("speed-up", Numbers.times(planning.speedUp()), one)
        : new Figure("speed-up", "–", one);
  }

  /** The bound holds under the cost model, so its gap is the estimate's. */
  private static Figure lowerBound(Planning planning, Candidate best) {
    double bound = planning.lowerBound().value();
    double value =
        switch (planning.objective()) {
          case PEAK_MEMORY -> best.peakBytes();
          case COST -> best.plan().devices() * best.estimate().stepSeconds();
          case P95 -> planning.value();
          case STEP_TIME, THROUGHPUT -> best.estimate().stepSeconds();
        };
    String of =
        switch (planning.objective()) {
          case PEAK_MEMORY -> "plan";
          case P95 -> "95th percentile";
          case COST, STEP_TIME, THROUGHPUT -> "estimate";
        };
    String why = (planning.isGiven() ? "without a search: " : "") + planning.lowerBound().why();
    if (bound > 0) {
      String above = Units.percent(value / bound - 1);
      why +=
          above.equals(Units.percent(0))
              ? "; the %s reaches it".formatted(of)
              : "; %s %s above".formatted(of, above);
    }
    return new Figure("lower bound", value(planning.objective(), bound), why);
  }

  /** An amount of what a planner makes small, with its unit. */
  static String value(Objective objective, double value) {
    return switch (objective) {
      case PEAK_MEMORY -> Numbers.bytes(value);
      case COST -> Units.significant(value) + " device-s";
      case STEP_TIME, THROUGHPUT, P95 -> Units.seconds(value);
    };
  }

  private static Figure peakMemory(Assessment assessment) {
    int fullest = 0;
    double share = -1;
    for (int stage = 0; stage < assessment.memory().size(); stage++) {
      PeakMemory memory = assessment.memory().get(stage);
      double filled = memory.share();
      if (filled > share) {
        share = filled;
        fullest = stage;
      }
    }
    PeakMemory memory = assessment.memory().get(fullest);
    String note = "on stage " + fullest;
    double capacity = (double) memory.capacity().value();
    if (Figure.isLimited(capacity)) {
      note += ", " + Units.percent(share) + " of " + Numbers.bytes(capacity);
    }
    return new Figure("peak memory", Numbers.bytes(memory.peakBytes()), note);
  }
}
