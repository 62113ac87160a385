package dev.pipewright.schedule.search;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.EnumSet;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A search for a schedule that goes on from where it ended. */
public abstract class ScheduleSearch {
  private final String name;
  private final Placement placement;
  private final int microBatches;
  final Trials trials;
  private final EnumSet<SearchDepth> ahead = EnumSet.allOf(SearchDepth.class);
  private @Nullable Schedule best;

  ScheduleSearch(String name, Placement placement, int microBatches, Trials trials) {
    this.name = name;
    this.placement = placement;
    this.microBatches = microBatches;
    this.trials = trials;
  }

  /**
   * The best schedule so far; throws where no order fits into memory.
   *
   * @param depth how far the search goes, unless it has been farther
   */
  public final synchronized Schedule found(SearchDepth depth) {
    for (SearchDepth next : EnumSet.range(SearchDepth.ROUGH, depth)) {
      if (ahead.contains(next)) {
        best = new Schedule(name, placement, microBatches, programs(next));
        ahead.remove(next);
      }
    }
    return Objects.requireNonNull(best, "every search begins");
  }

  private long[][] programs(SearchDepth depth) {
    return switch (depth) {
      case ROUGH -> {
        begin();
        yield trials.first();
      }
      case VARIED -> {
        vary();
        yield trials.allowed();
      }
      case FULL -> trials.moved();
    };
  }

  /** Tries the first orders. */
  abstract void begin();

  /** Tries the others, and varies the best. */
  abstract void vary();
}
