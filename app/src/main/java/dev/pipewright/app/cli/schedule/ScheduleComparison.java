package dev.pipewright.app.cli.schedule;

import dev.pipewright.app.cli.input.OptionValues;
import dev.pipewright.app.cli.input.Replicas;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.ScheduleOptions;
import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.sim.Run;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A schedule and others for the same work, by their names or from files. The first says what the
 * work is: where it is a file, its stages have the times that are given, and others have for each
 * rank what the file has on it; where it is a name, each rank's share has them.
 */
public final class ScheduleComparison {
  /**
   * What the user says of the work.
   *
   * @param stages null where a file says it; likewise micro-batches
   * @param times null where they are the usual ones, or those that a file recorded
   */
  public record Asked(
      @Nullable String stages,
      @Nullable String microBatches,
      @Nullable String times,
      OptionalInt chunks,
      double timeLimit,
      MemoryCap memoryCap,
      @Nullable String replicas) {}

  private final ScheduleRuns runs;
  private final String first;
  private final List<String> others;
  private final Asked asked;
  private final @Nullable GivenSchedule given; // the first, where it is a file

  public ScheduleComparison(ScheduleRuns runs, String first, List<String> others, Asked asked) {
    this.runs = runs;
    this.first = first;
    this.others = others;
    this.asked = asked;
    this.given = GivenSchedule.isFile(first) ? GivenSchedule.read(first) : null;
  }

  /** All of them, the first first. */
  public List<MadeSchedule> all() {
    List<MadeSchedule> all = new ArrayList<>();
    all.add(given == null ? named(first, !others.isEmpty()) : file(given));
    for (String other : others) {
      try {
        all.add(GivenSchedule.isFile(other) ? file(other) : named(other, true));
      } catch (BadInputException e) {
        throw new BadInputException("--beside: " + other + ": " + e.getMessage());
      }
    }
    return all;
  }

  private int ranks() {
    return count("--stages", asked.stages(), given == null ? 0 : given.ranks(), "ranks");
  }

  private int microBatches() {
    int own = given == null ? 0 : given.microBatches();
    return count("--micro-batches", asked.microBatches(), own, "micro-batches");
  }

  /** What the user says, or a file; both where they agree. */
  private int count(String option, @Nullable String said, int own, String what) {
    if (said == null && own == 0) {
      throw new BadInputException(
          "%s: %s needs it; add it, like %s 8".formatted(option, first, option));
    }
    int count = said == null ? own : OptionValues.count(option, said);
    if (own > 0 && count != own) {
      throw new BadInputException(
          "%s: %s has %d %s, not %d; leave it out".formatted(option, first, own, what, count));
    }
    return count;
  }

  private String times() {
    return asked.times() == null ? ScheduleRequest.Times.USUAL : asked.times();
  }

  private MadeSchedule file(GivenSchedule file) {
    boolean recorded = asked.times() == null && others.isEmpty();
    Optional<Run> run = recorded ? file.recorded() : Optional.empty();
    ScheduleRequest request =
        request(file, ScheduleRequest.Times.of(times(), file.stages()), cap(file));
    return run.isPresent()
        ? runs.recorded(file, request, run.get())
        : runs.given(file, request, false);
  }

  private MemoryCap cap(GivenSchedule file) {
    return asked.memoryCap().isLimited() ? asked.memoryCap() : file.memoryCap();
  }

  private ScheduleRequest request(
      GivenSchedule file, ScheduleRequest.Times times, MemoryCap memoryCap) {
    return new ScheduleRequest(
        ranks(),
        microBatches(),
        file.file().chunks(),
        times,
        asked.timeLimit(),
        memoryCap,
        Replicas.none(ranks()));
  }

  /** One to compare with, where it has the same work. */
  private MadeSchedule file(String other) {
    GivenSchedule file = GivenSchedule.read(other);
    if (file.ranks() != ranks() || file.microBatches() != microBatches()) {
      throw new BadInputException(
          "has %d ranks and %d micro-batches, and %s has %d and %d; compare what has the same work"
              .formatted(file.ranks(), file.microBatches(), first, ranks(), microBatches()));
    }
    boolean same = given != null && given.hasStagesOf(file);
    ScheduleRequest.Times times =
        same
            ? ScheduleRequest.Times.of(times(), file.stages())
            : given != null ? shares(given) : ScheduleRequest.Times.of(times(), ranks());
    return runs.given(file, request(file, times, asked.memoryCap()), !same);
  }

  private ScheduleRequest.Times shares(GivenSchedule file) {
    return file.shares(ScheduleRequest.Times.of(times(), file.stages()));
  }

  /** With the same number of chunks where it allows a choice. */
  private MadeSchedule named(String name, boolean compared) {
    ScheduleNames.Named named = ScheduleNames.find(name);
    int parts = named.fixed() && compared ? named.chunks() : named.chunks(name, asked.chunks());
    int ranks = ranks();
    int batches = microBatches();
    ScheduleOptions.checkSize(ranks, parts, batches);
    ScheduleRequest request =
        new ScheduleRequest(
            ranks,
            batches,
            parts,
            given == null ? ScheduleRequest.Times.of(times(), ranks) : shares(given),
            asked.timeLimit(),
            asked.memoryCap(),
            asked.replicas() == null || !name.equals(ScheduleNames.REPLICATED)
                ? Replicas.none(ranks)
                : Replicas.of(asked.replicas(), ranks, batches));
    return runs.named(name, request);
  }
}
