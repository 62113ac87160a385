package dev.pipewright.schedule.catalog;

import dev.pipewright.schedule.Bubble;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * A schedule of the catalogue.
 *
 * @param name as users write it
 * @param chunks stages of the network on each rank, unless the user says otherwise
 * @param fixedChunks whether there can be no other number
 * @param updates which version of the parameters passes use
 * @param needsDurations whether the schedule depends on the times of passes
 * @param sameRanks whether it has a rank for each of the user's stages
 * @param replicated whether every rank has the whole network, as in data parallelism
 * @param factory makes it; throws {@link UnsuitableException} where it cannot for the input
 * @param round micro-batches after which an asynchronous order repeats; 0 for one that flushes
 * @param published what is known of it without making it
 */
public record ScheduleEntry(
    String name,
    int chunks,
    boolean fixedChunks,
    UpdateSemantics updates,
    boolean needsDurations,
    boolean sameRanks,
    boolean replicated,
    Function<ScheduleInput, Schedule> factory,
    ToIntFunction<ScheduleInput> round,
    Published published) {
  /** One that flushes, with a fixed number of chunks. */
  static ScheduleEntry of(
      String name, int chunks, String paper, Function<ScheduleInput, Schedule> factory) {
    return new ScheduleEntry(
        name,
        chunks,
        true,
        UpdateSemantics.FLUSH,
        false,
        true,
        false,
        factory,
        input -> 0,
        Published.in(paper));
  }

  /** Data parallelism: a rank for each of the user's stages, with the whole network on each. */
  static ScheduleEntry replicated(
      String name, String paper, Function<ScheduleInput, Schedule> factory) {
    return new ScheduleEntry(
        name,
        1,
        true,
        UpdateSemantics.FLUSH,
        false,
        true,
        true,
        factory,
        input -> 0,
        Published.in(paper));
  }

  /** A schedule that there is already: for its own ranks and micro-batches. */
  public static ScheduleEntry given(Schedule schedule) {
    Placement placement = schedule.placement();
    int microBatches = schedule.microBatches() * placement.chains();
    return of(
        schedule.name(),
        Math.max(1, placement.depth() / placement.ranks()),
        "",
        input -> {
          if (input.stages() != placement.ranks() || input.microBatches() != microBatches) {
            throw new IllegalArgumentException(
                "%s is for %d ranks and %d micro-batches; take so many with --stages, --global-batch and --micro-batch"
                    .formatted(schedule.name(), placement.ranks(), microBatches));
          }
          return schedule;
        });
  }

  /** One without flushes. */
  static ScheduleEntry asynchronous(
      String name,
      String paper,
      UpdateSemantics updates,
      ToIntFunction<ScheduleInput> round,
      Function<ScheduleInput, Schedule> factory) {
    return new ScheduleEntry(
        name, 1, true, updates, false, true, false, factory, round, Published.in(paper));
  }

  /** The same with any number of chunks. */
  ScheduleEntry withAnyChunks() {
    return with(false, needsDurations, sameRanks, published);
  }

  /** The same, made for given durations. */
  ScheduleEntry forDurations() {
    return with(fixedChunks, true, sameRanks, published);
  }

  /** The same on fewer or more ranks than stages. */
  ScheduleEntry onOtherRanks() {
    return with(fixedChunks, needsDurations, false, published);
  }

  /** The same for some numbers of ranks and micro-batches only. */
  ScheduleEntry forCounts(CountRule counts) {
    return with(new Published(published.paper(), counts, published.bubble()));
  }

  /** The same with a closed form of its bubble. */
  ScheduleEntry with(Bubble bubble) {
    return with(new Published(published.paper(), published.counts(), Optional.of(bubble)));
  }

  private ScheduleEntry with(Published known) {
    return with(fixedChunks, needsDurations, sameRanks, known);
  }

  private ScheduleEntry with(boolean fixed, boolean durations, boolean ranks, Published known) {
    return new ScheduleEntry(
        name, chunks, fixed, updates, durations, ranks, replicated, factory, round, known);
  }

  /** Whether it is a pipeline whose steps end before the next ones begin. */
  public boolean isSynchronousPipeline() {
    return updates == UpdateSemantics.FLUSH && !replicated;
  }

  /** Makes it; throws {@link IllegalArgumentException} where that is impossible. */
  public Schedule make(ScheduleInput input) {
    return factory.apply(input);
  }
}
