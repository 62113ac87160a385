package dev.pipewright.app.cli.schedule;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.schedule.CheckedFile;
import dev.pipewright.formats.schedule.ScheduleCsv;
import dev.pipewright.formats.schedule.ScheduleFile;
import dev.pipewright.formats.schedule.ScheduleJsonReader;
import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * A schedule from a file, in place of a name: PyTorch's CSV, or our JSON.
 *
 * @param path as given, which is its name, too
 */
public record GivenSchedule(String path, ScheduleFile file) {
  /** Whether a word in place of a schedule's name names a file. */
  public static boolean isFile(String word) {
    if (ScheduleNames.isKnown(word) || word.isEmpty()) {
      return false;
    }
    return word.equals("-")
        || word.contains("/")
        || word.contains("\\")
        || word.endsWith(".csv")
        || word.endsWith(".json")
        || Files.exists(FileNames.file("the schedule", word));
  }

  /** Throws {@link BadInputException} where it is no schedule, or one that cannot run. */
  public static GivenSchedule read(String word) {
    Path path = FileNames.file("the schedule", word);
    ScheduleFile file =
        switch (CheckedFile.kind(path)) {
          case SCHEDULE_CSV -> ScheduleCsv.read(path);
          case SCHEDULE_JSON -> ScheduleJsonReader.read(path);
          case PLAN ->
              throw new BadInputException(
                  path + ": is a plan, not a schedule; run it with `simulate`, or give a schedule");
        };
    if (!file.problems().isEmpty()) {
      throw new BadInputException(
          file.problems().get(0) + "; see all that keeps it from running with `check`");
    }
    return new GivenSchedule(word, file);
  }

  public String name() {
    return String.valueOf(Path.of(path).getFileName());
  }

  public Schedule schedule() {
    return file.schedule();
  }

  private Placement placement() {
    return schedule().placement();
  }

  int ranks() {
    return schedule().ranks();
  }

  /** Of all chains. */
  int microBatches() {
    return schedule().microBatches() * placement().chains();
  }

  /** Stages that {@code --times} counts: those of a chain, as the file numbers them. */
  int stages() {
    return placement().depth();
  }

  /** Whether another has the same stages on the same ranks. */
  boolean hasStagesOf(GivenSchedule other) {
    boolean same =
        other.placement().stages() == placement().stages()
            && other.placement().depth() == placement().depth();
    for (int stage = 0; same && stage < placement().stages(); stage++) {
      same = placement().rankOf(stage) == other.placement().rankOf(stage);
    }
    return same;
  }

  /** Whose number in {@code --times} each stage of every chain has. */
  int[] shareOf() {
    int[] shareOf = new int[placement().stages()];
    Arrays.setAll(shareOf, stage -> stage % placement().depth());
    return shareOf;
  }

  /** What its ops take where each of its own stages has its own time. */
  OpTimes opTimes(ScheduleRequest.Times times) {
    int[] whole = new int[placement().stages()];
    Arrays.fill(whole, 1);
    return times.of(shareOf(), whole);
  }

  /** What its ops take where each rank's share of the network has a time, cut in equal stages. */
  OpTimes opTimesOfShares(ScheduleRequest.Times times) {
    int[] shareOf = ScheduleRequest.shareOf(placement());
    int[] parts = new int[shareOf.length];
    for (int stage = 0; stage < parts.length; stage++) {
      for (int other = 0; other < placement().depth(); other++) {
        int inChain = stage / placement().depth() * placement().depth() + other;
        parts[stage] += shareOf[inChain] == shareOf[stage] ? 1 : 0;
      }
    }
    return times.of(shareOf, parts);
  }

  /** The times of each rank's share, for schedules with other stages: sums over the rank's own. */
  ScheduleRequest.Times shares(ScheduleRequest.Times times) {
    if (times.transfers().size() > 1) {
      throw new BadInputException(
          "--times: comm counts the cuts of %s, and others have other cuts; give one number"
              .formatted(path));
    }
    OpTimes each = opTimes(times);
    int[] shareOf = ScheduleRequest.shareOf(placement());
    List<List<Double>> sums = new ArrayList<>();
    for (double[] seconds : List.of(each.forward(), each.input(), each.weight())) {
      List<Double> sum = new ArrayList<>(Collections.nCopies(ranks(), 0.0));
      for (int stage = 0; stage < placement().depth(); stage++) {
        sum.set(shareOf[stage], sum.get(shareOf[stage]) + seconds[stage]);
      }
      sums.add(List.copyOf(sum));
    }
    return new ScheduleRequest.Times(times.words(), List.copyOf(sums), times.transfers());
  }

  /** The cap that the file was made for, where the user gives none. */
  MemoryCap memoryCap() {
    Optional<double[]> caps = file.memoryCap();
    return caps.isEmpty()
        ? MemoryCap.NONE
        : new MemoryCap(Arrays.stream(caps.get()).boxed().toList());
  }

  /** When its ops ran, where the file says it. */
  Optional<Run> recorded() {
    return file.times()
        .map(times -> Run.recorded(schedule(), times.starts(), times.ends()))
        .filter(run -> run.makespan() > 0);
  }
}
