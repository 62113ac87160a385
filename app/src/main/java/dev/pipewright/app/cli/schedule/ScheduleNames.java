package dev.pipewright.app.cli.schedule;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.ScheduleOptions;
import dev.pipewright.schedule.PipeDream;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/**
 * The schedules by their names on the command line: those of the {@link ScheduleCatalog}, and the
 * optimum, which a solver searches for.
 */
public final class ScheduleNames {
  /**
   * A schedule and what is known of all others.
   *
   * @param lowerBound that no schedule's makespan is below, where one was searched for
   * @param optimal whether this one's is proven to be that
   */
  public record Made(Schedule schedule, OptionalDouble lowerBound, boolean optimal) {
    static Made by(Schedule schedule) {
      return new Made(schedule, OptionalDouble.empty(), false);
    }
  }

  /**
   * How to make a schedule.
   *
   * @param chunks on each rank when the user does not say
   * @param fixed whether there can be no other number
   * @param round micro-batches after which the order of one that never flushes repeats; 0 for one
   *     that does
   */
  public record Named(
      int chunks,
      boolean fixed,
      Function<ScheduleRequest, Made> generator,
      ToIntFunction<ScheduleRequest> round) {
    Named(int chunks, boolean fixed, Function<ScheduleRequest, Made> generator) {
      this(chunks, fixed, generator, request -> 0);
    }

    /** The chunks that the user wants, or the usual ones. */
    public int chunks(String name, OptionalInt wanted) {
      return ScheduleOptions.chunks(name, chunks, fixed, wanted);
    }

    /** The schedule; throws {@link BadInputException} where there is none of such numbers. */
    public Schedule schedule(String name, ScheduleRequest request) {
      try {
        return generator.apply(request).schedule();
      } catch (BadInputException e) {
        throw e; // a sentence already
      } catch (IllegalArgumentException e) {
        throw new BadInputException("--schedule: " + name + ": " + e.getMessage());
      }
    }
  }

  /** The one whose stages may have replicas. */
  static final String REPLICATED = PipeDream.NAME;

  /** The one that is searched for until time is over. */
  public static final String SEARCHED = "optimal";

  private ScheduleNames() {}

  private static Set<String> names(boolean sameRanks) {
    return ScheduleCatalog.entries().stream()
        .filter(entry -> entry.sameRanks() == sameRanks)
        .map(ScheduleEntry::name)
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** Those with a rank for each of the user's stages. */
  public static Set<String> all() {
    Set<String> all = names(true);
    all.add(SEARCHED);
    return Collections.unmodifiableSet(all);
  }

  /** Further forms of cyclic data parallelism, on fewer or more ranks. */
  public static Set<String> forms() {
    return Collections.unmodifiableSet(names(false));
  }

  static boolean isKnown(String name) {
    return name.equals(SEARCHED) || ScheduleCatalog.find(name).isPresent();
  }

  /** Throws {@link BadInputException} with the nearest name where there is none such. */
  public static Named find(String name) {
    if (name.equals(SEARCHED)) {
      return new Named(1, true, SolvedSchedule::of);
    }
    List<String> known = new ArrayList<>(all());
    known.addAll(forms());
    return named(ScheduleOptions.find(name, known));
  }

  private static Named named(ScheduleEntry entry) {
    return new Named(
        entry.chunks(),
        entry.fixedChunks(),
        request -> Made.by(ScheduleOptions.make(entry, request)),
        request -> entry.round().applyAsInt(request));
  }
}
