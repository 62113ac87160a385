package dev.pipewright.bench.simulator;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.schedule.Bubble;
import dev.pipewright.schedule.Bubble.Counts;
import dev.pipewright.schedule.Bubble.Times;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.catalog.ScheduleInput;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.List;

/**
 * The catalogue's closed forms of bubbles (GPipe, DAPPLE, Megatron-LM, zero bubble, DualPipe, GEMS,
 * Chimera, Hanayo), next to the simulated bubbles of the schedules.
 */
public final class ScheduleBubbles implements Reproduction {
  private static final int MOST_RANKS = 16;
  private static final int MOST_MICRO_BATCHES = 64;
  private static final Counts SHOWN = new Counts(8, 32, 1);
  private static final Times EQUAL = new Times(1, 1, 1);

  /** Equal passes, and weights' gradients that take half as long. */
  private static final List<Times> TIMES = List.of(EQUAL, new Times(2, 2, 1));

  /** What a formula and a simulation give over many numbers. */
  private record Comparison(int cases, double largest) {}

  @Override
  public String name() {
    return "schedule-bubbles";
  }

  @Override
  public String summary() {
    return "Bubbles of published schedules by closed form, and simulated.";
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown(
            "schedule",
            "paper",
            "bubble",
            "where",
            "formula",
            "simulated",
            "share of the span",
            "cases",
            "largest difference");
    for (ScheduleEntry entry : ScheduleCatalog.entries()) {
      entry.published().bubble().ifPresent(bubble -> row(table, entry, bubble));
    }
    return new Report("Bubbles of published schedules")
        .paragraph(
            ("`Reproduce %s`. A bubble is the longest span from a rank's first op to its last, less the work of a rank:"
                    + " p ranks, m micro-batches of all directions, v chunks on each rank, F, B and W for a forward pass,"
                    + " the gradient of inputs and of weights; transfers are free, nothing overlaps.")
                .formatted(name()))
        .paragraph(
            ("*formula* and *simulated* are for %d ranks, %d micro-batches and F = B = W = 1. *cases* counts all other numbers"
                    + " for which schedule and formula exist: 2 to %d ranks, up to %d micro-batches, F = B = W and F = B = 2W.")
                .formatted(SHOWN.p(), SHOWN.m(), MOST_RANKS, MOST_MICRO_BATCHES))
        .table(table);
  }

  private static void row(Markdown table, ScheduleEntry entry, Bubble bubble) {
    Counts shown = new Counts(SHOWN.p(), SHOWN.m(), entry.chunks());
    double formula = bubble.form().of(shown, EQUAL);
    double simulated = simulated(entry, shown, EQUAL);
    double work = 3.0 * SHOWN.m();
    Comparison all = compared(entry, bubble);
    table.row(
        entry.name(),
        entry.published().paper(),
        bubble.formula(),
        bubble.holds().words(),
        Numbers.significant(formula),
        Numbers.significant(simulated),
        Numbers.percent(simulated / (work + simulated)),
        all.cases(),
        Numbers.fixed(all.largest(), 6));
  }

  private static Comparison compared(ScheduleEntry entry, Bubble bubble) {
    int cases = 0;
    double largest = 0;
    for (Times times : TIMES) {
      for (int ranks = 2; ranks <= MOST_RANKS; ranks++) {
        for (int microBatches = 1; microBatches <= MOST_MICRO_BATCHES; microBatches++) {
          Counts counts = new Counts(ranks, microBatches, entry.chunks());
          if (entry.published().counts().allows(ranks, microBatches)
              && bubble.holds().test(counts, times)) {
            double difference = bubble.form().of(counts, times) - simulated(entry, counts, times);
            largest = Math.max(largest, Math.abs(difference));
            cases++;
          }
        }
      }
    }
    return new Comparison(cases, largest);
  }

  private static double simulated(ScheduleEntry entry, Counts counts, Times times) {
    Schedule schedule = entry.make(ScheduleInput.counts(counts.p(), counts.m(), counts.v()));
    double v = counts.v();
    Run run =
        StaticSimulator.run(
            schedule,
            OpTimes.equal(schedule.stages(), times.f() / v, times.b() / v, times.w() / v, 0));
    return run.longestSpan() - counts.m() * (times.f() + times.b() + times.w());
  }
}
