package dev.pipewright.formats.schedule;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.check.Validator.Problem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A schedule that was read, and what keeps it from running. */
public final class ScheduleFile {
  private static final int MOST_PROBLEMS = 20;

  /** When the ops started and ended, in seconds: by rank and position in its program. */
  public record Times(double[][] starts, double[][] ends) {}

  private final Path file;
  private final Schedule schedule;
  private final OpPlaces places;
  private final boolean transfers;
  private final boolean olderLetters;
  private final Optional<Times> times;
  private final Optional<double[]> memoryCap;
  private final int chunks;
  private final List<FileProblem> problems = new ArrayList<>();
  private boolean more;

  ScheduleFile(
      Path file,
      Schedule schedule,
      OpPlaces places,
      boolean transfers,
      boolean olderLetters,
      Optional<Times> times,
      Optional<double[]> memoryCap,
      OptionalInt chunks,
      List<FileProblem> contradictions) {
    this.file = file;
    this.schedule = schedule;
    this.places = places;
    this.transfers = transfers;
    this.olderLetters = olderLetters;
    this.times = times;
    this.memoryCap = memoryCap;
    this.chunks = chunks.orElseGet(() -> most(schedule.placement()));
    contradictions.forEach(this::add);
    if (problems.isEmpty()) {
      addAll(Validator.check(schedule, MOST_PROBLEMS + 1));
    }
    if (problems.isEmpty() && times.isPresent()) {
      addAll(
          Validator.times(schedule, times.get().starts(), times.get().ends(), MOST_PROBLEMS + 1));
    }
  }

  public Schedule schedule() {
    return schedule;
  }

  /** Whether the file says what is sent and received. */
  public boolean transfers() {
    return transfers;
  }

  /** Whether it is written in the {@link OlderLetters} of PyTorch. */
  public boolean olderLetters() {
    return olderLetters;
  }

  /** When it ran, where the file says it. */
  public Optional<Times> times() {
    return times;
  }

  /** Each rank's cap that it was made for, in micro-batch activations of one stage. */
  public Optional<double[]> memoryCap() {
    return memoryCap;
  }

  /** Parts of one rank's stage of the network: what a cap counts as one. */
  public int chunks() {
    return chunks;
  }

  /** The most stages that a rank has of one chain. */
  private static int most(Placement placement) {
    int[] count = new int[placement.ranks()];
    int most = 1;
    for (int stage = 0; stage < placement.depth(); stage++) {
      most = Math.max(most, ++count[placement.rankOf(stage)]);
    }
    return most;
  }

  /** The first problems, each with its place; empty for a schedule that can run. */
  public List<FileProblem> problems() {
    List<FileProblem> first = new ArrayList<>(problems);
    if (more) {
      first.add(FileProblem.of(file, "more", "there are more problems; correct these first"));
    }
    return List.copyOf(first);
  }

  /** Adds what was found beyond the order of the ops. */
  public void addAll(List<Problem> found) {
    for (Problem problem : found) {
      add(FileProblem.of(file, places, problem));
    }
  }

  void add(FileProblem problem) {
    if (problems.size() < MOST_PROBLEMS) {
      problems.add(problem);
    } else {
      more = true;
    }
  }
}
