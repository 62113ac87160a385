package dev.pipewright.formats.problem;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.catalog.ScheduleInput;
import dev.pipewright.schedule.catalog.UnsuitableException;
import java.util.Collection;
import java.util.Locale;
import java.util.OptionalInt;

/** Makes schedules of the catalogue from what a user states. */
public final class ScheduleOptions {
  private ScheduleOptions() {}

  /**
   * The schedule of a name; throws {@link BadInputException} with the nearest name where there is
   * none.
   *
   * @param known the names that may be meant
   */
  public static ScheduleEntry find(String name, Collection<String> known) {
    return ScheduleCatalog.find(name)
        .orElseThrow(() ->
            new BadInputException(
                "unknown schedule '" + name + "'; " + Suggestion.of(name, known)));
  }

  /** The stages of each rank that the user wants, or the usual number. */
  public static int chunks(ScheduleEntry entry, OptionalInt wanted) {
    return chunks(entry.name(), entry.chunks(), entry.fixedChunks(), wanted);
  }

  /**
   * The same.
   *
   * @param usual of the schedule
   * @param fixed whether there can be no other number
   */
  public static int chunks(String name, int usual, boolean fixed, OptionalInt wanted) {
    if (fixed && wanted.isPresent() && wanted.getAsInt() != usual) {
      throw new BadInputException(
          "--chunks: %s runs %d on each rank, not %d; leave --chunks out"
              .formatted(name, usual, wanted.getAsInt()));
    }
    return wanted.orElse(usual);
  }

  /** Makes a schedule; throws with the option of a parameter that does not suit it. */
  public static Schedule make(ScheduleEntry entry, ScheduleInput input) {
    try {
      return entry.make(input);
    } catch (UnsuitableException e) {
      String flag = e.parameter().name().toLowerCase(Locale.ROOT).replace('_', '-');
      throw new BadInputException("--" + flag + ": " + e.getMessage());
    }
  }

  /** Refuses schedules that are too large to be simulated and shown. */
  public static void checkSize(int ranks, int chunks, int microBatches) {
    if (ranks > SizeLimits.DEVICES || (double) ranks * chunks * microBatches > SizeLimits.PASSES) {
      throw new BadInputException(
          ("%d stages × %d chunks × %d micro-batches are more than can be shown;"
                  + " take at most %d stages and %d in all")
              .formatted(ranks, chunks, microBatches, SizeLimits.DEVICES, SizeLimits.PASSES));
    }
  }
}
