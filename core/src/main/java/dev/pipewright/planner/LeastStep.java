package dev.pipewright.planner;

import dev.pipewright.planner.ScheduledPlanner.Choice;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Seconds that no equal pipeline is faster than, over all grids and schedules. Bounds that take
 * long ({@link PipelineBounds#thorough}) are computed where the quick ones are lowest, until the
 * next quick one is higher than what is known, or less than {@value #NEAR} below the best pipeline.
 *
 * @param choices of schedules; of a single rank the first one stands for all
 * @param shapes of these
 */
record LeastStep(List<Choice> choices, Map<Choice, ScheduleShape> shapes) {

  private static final double NEAR = 0.01;

  /** A grid with a schedule, and seconds that no pipeline of it is faster than. */
  private record Bounded(PipelineDraft draft, Choice choice, double seconds) {}

  /**
   * Infinite where no pipeline fits.
   *
   * @param known seconds of the best pipeline that fits; infinite where there is none
   */
  double of(List<PipelineDraft> drafts, double known) {
    double enough = known / (1 + NEAR);
    List<Bounded> all =
        drafts.parallelStream()
            .flatMap(draft ->
                choices.stream()
                    .limit(draft.grid().ranks() == 1 ? 1 : choices.size())
                    .map(choice -> new Bounded(draft, choice, draft.bound(shape(choice), known))))
            .sorted(Comparator.comparingDouble(Bounded::seconds))
            .toList();
    CountedSchedules counted = new CountedSchedules();
    double least = Double.POSITIVE_INFINITY;
    for (Bounded each : all) {
      if (each.seconds() >= Math.min(least, enough)) {
        least = Math.min(least, each.seconds());
        break;
      }
      PipelineDraft draft = each.draft();
      Choice choice = each.choice();
      CountedSchedules.Facts facts =
          counted.of(choice, draft.grid().ranks(), draft.batching().microBatches());
      if (facts.suits()) {
        least = Math.min(least, draft.bound(shape(choice), facts, isFolded(choice), least));
      }
    }
    return least;
  }

  /** Whether a schedule made for durations has two stages on each rank: they go there and back. */
  static boolean isFolded(Choice choice) {
    return choice.entry().needsDurations() && choice.chunks() == 2;
  }

  private ScheduleShape shape(Choice choice) {
    return Objects.requireNonNull(shapes.get(choice));
  }
}
