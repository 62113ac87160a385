package dev.pipewright.api;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.ScheduleOptions;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.catalog.ScheduleInput;
import dev.pipewright.schedule.search.OpTimes;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;

/**
 * Makes published schedules. Throws {@link IllegalArgumentException} where a name is unknown, or
 * where the schedule does not exist for the numbers that are given.
 */
public final class Schedules {
  private Schedules() {}

  /** The names of the schedules. */
  public static List<String> names() {
    return ScheduleCatalog.entries().stream().map(ScheduleEntry::name).toList();
  }

  /**
   * A schedule with its usual number of stages on each rank.
   *
   * @param ranks of the pipeline, or workers of data parallelism
   * @param microBatches of a step, of all directions
   */
  public static Schedule make(String name, int ranks, int microBatches) {
    return make(name, ranks, microBatches, OptionalInt.empty(), PassTimes.USUAL);
  }

  /** The same with {@code chunks} stages on each rank, for schedules that allow a choice. */
  public static Schedule make(String name, int ranks, int microBatches, int chunks) {
    return make(name, ranks, microBatches, OptionalInt.of(chunks), PassTimes.USUAL);
  }

  /** The same with the order that suits given times, for schedules that depend on them. */
  public static Schedule make(String name, int ranks, int microBatches, PassTimes times) {
    return make(name, ranks, microBatches, OptionalInt.empty(), times);
  }

  private static Schedule make(
      String name, int ranks, int microBatches, OptionalInt wanted, PassTimes times) {
    ScheduleEntry entry = ScheduleOptions.find(name, names());
    count("--stages", ranks);
    count("--micro-batches", microBatches);
    wanted.ifPresent(number -> count("--chunks", number));
    int chunks = ScheduleOptions.chunks(entry, wanted);
    ScheduleOptions.checkSize(ranks, chunks, microBatches);
    return ScheduleOptions.make(entry, new Input(ranks, microBatches, chunks, times));
  }

  private static void count(String option, int value) {
    if (value < 1) {
      throw new BadInputException(
          option + ": '" + value + "' is no count; give whole numbers >= 1, like 64");
    }
    if (value > SizeLimits.COUNT) {
      throw new BadInputException(
          "%s: %s is too many; give at most %d".formatted(option, value, SizeLimits.COUNT));
    }
  }

  /** Ranks without replicas and without a memory cap. */
  private record Input(int stages, int microBatches, int chunks, PassTimes times)
      implements ScheduleInput {
    @Override
    public int[] replicasOfStages() {
      int[] replicas = new int[stages];
      Arrays.fill(replicas, 1);
      return replicas;
    }

    @Override
    public OpTimes opTimes(Placement placement) {
      return times.opTimes(placement, chunks);
    }

    @Override
    public double[] caps(int ranks) {
      double[] caps = new double[ranks];
      Arrays.fill(caps, Double.POSITIVE_INFINITY);
      return caps;
    }
  }
}
