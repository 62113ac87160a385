package dev.pipewright.predict.paradl;

import dev.pipewright.schedule.FixedOrder;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.ScheduleSpec;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.catalog.ScheduleInput;
import dev.pipewright.units.Check;
import java.util.Optional;

/**
 * The schedule of the pipelines that strategies are priced with.
 *
 * @param policy that counts where no entry of the catalogue does
 * @param entry of the catalogue
 * @param chunks stages of each rank and direction
 */
public record PipelineSchedule(PipelinePolicy policy, Optional<ScheduleEntry> entry, int chunks) {
  public PipelineSchedule {
    Check.that(chunks >= 1, "a rank has stages: chunks=%d", chunks);
  }

  public static PipelineSchedule of(PipelinePolicy policy) {
    return new PipelineSchedule(policy, Optional.empty(), 1);
  }

  /**
   * Of the catalogue.
   *
   * @param entry a pipeline with flushes that depends on no durations
   */
  public static PipelineSchedule of(ScheduleEntry entry, int chunks) {
    Check.that(
        entry.isSynchronousPipeline() && !entry.needsDurations(),
        "the schedule follows from counts and flushes: name=%s",
        entry.name());
    return new PipelineSchedule(PipelinePolicy.A, Optional.of(entry), chunks);
  }

  /** What users call it. */
  public String name() {
    return entry.map(ScheduleEntry::name).orElse(policy.scheduleName());
  }

  /**
   * For so many ranks; throws {@link IllegalArgumentException} where there is none for these
   * numbers.
   */
  ScheduleSpec spec(int ranks, int microBatches) {
    if (entry.isEmpty()) {
      return policy;
    }
    ScheduleInput counts = ScheduleInput.counts(ranks, microBatches, chunks);
    return FixedOrder.of(entry.get().make(counts).named(entry.get().name()));
  }
}
