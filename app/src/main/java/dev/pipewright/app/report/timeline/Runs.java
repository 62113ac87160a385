package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.chart.Look;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.units.Units;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs of the same work that pictures show below each other on one scale of time.
 *
 * @param title in one line
 * @param times of ops, in words; empty for what is simulated or measured in seconds
 */
public record Runs(String title, String times, TimeNotation clock, List<Shown> all) {
  public Runs {
    all = List.copyOf(all);
  }

  /** A step of a plan. */
  public static Runs of(String title, Timeline timeline) {
    return new Runs(
        title, "", TimeNotation.SECONDS, List.of(new Shown(title, timeline, Optional.empty())));
  }

  /** A plan whose pipeline never flushes. */
  public static Runs of(String title, Timeline timeline, Shown.Period period) {
    return new Runs(
        title, "", TimeNotation.SECONDS, List.of(new Shown(title, timeline, Optional.of(period))));
  }

  /** {@code 1f1b, zb-h1: 4 ranks, 8 micro-batches}; {@code 4 to 6 ranks} where they differ. */
  public static Runs of(List<Shown> all, int microBatches, String times) {
    var ranks = all.stream().mapToInt(run -> run.ranks().size()).summaryStatistics();
    String title =
        all.stream().map(Shown::name).collect(Collectors.joining(", "))
            + ": "
            + (ranks.getMin() < ranks.getMax() ? ranks.getMin() + " to " : "")
            + Words.count(ranks.getMax(), "rank")
            + ", "
            + Words.count(microBatches, "micro-batch");
    return new Runs(title, times, TimeNotation.UNITS, all);
  }

  public Shown first() {
    return all.get(0);
  }

  boolean areSeveral() {
    return all.size() > 1;
  }

  /** Whether devices run the ranks, which then are stages. */
  boolean haveDevices() {
    List<Lane.Compute> ranks = first().ranks();
    return !ranks.isEmpty() && !ranks.get(0).devices().isEmpty();
  }

  /** Of the longest. */
  double makespan() {
    return all.stream().mapToDouble(Shown::makespan).max().orElse(0);
  }

  /** Of the fullest. */
  double peak() {
    return all.stream().mapToDouble(Shown::peak).max().orElse(0);
  }

  /** Of the one with most. */
  int ranks() {
    return all.stream().mapToInt(run -> run.ranks().size()).max().orElse(0);
  }

  public long slices() {
    return all.stream().mapToLong(Shown::slices).sum();
  }

  Set<Look> timed() {
    return all.stream().flatMap(run -> run.timed().stream()).collect(looks());
  }

  Set<Look> drawn() {
    return all.stream().flatMap(run -> run.drawn().stream()).collect(looks());
  }

  private static Collector<Look, ?, EnumSet<Look>> looks() {
    return Collectors.toCollection(() -> EnumSet.noneOf(Look.class));
  }

  /** The one whose ranks have most stages. */
  Shown mostShaded() {
    Shown most = first();
    for (Shown run : all) {
      most = run.numbering().mostShade() > most.numbering().mostShade() ? run : most;
    }
    return most;
  }

  /** What shades mean: {@code from the other end}, or empty where no rank has several stages. */
  String shades() {
    SliceNumbers most = mostShaded().numbering();
    return most.mostShade() == 0
        ? ""
        : "lighter: " + (most.bothWays() ? "from the other end" : "a rank's later stages");
  }

  boolean numberStages() {
    return all.stream().anyMatch(run -> run.numbering().ofStages());
  }

  boolean numberMicroBatches() {
    return all.stream().anyMatch(run -> !run.numbering().ofStages());
  }

  /** What the numbers of slices are in all of them: see {@link SliceNumbers#ofStages}. */
  String numbers() {
    if (!numberStages()) {
      return "micro-batches";
    }
    return numberMicroBatches()
        ? "micro-batches, or stages where a rank runs all of them"
        : "stages";
  }

  /** {@code op times: F 1, B 1, W 1}, or empty. */
  String subject() {
    return times.isEmpty() ? "" : "op times: " + times;
  }

  /** What the whole timeline is: {@code whole step}, {@code whole run}, {@code all}. */
  String whole() {
    if (clock == TimeNotation.UNITS) {
      return "all";
    }
    return first().period().isPresent() ? "whole run" : "whole step";
  }

  /** What is said of the only run: its figures, each line a sentence. */
  List<String> lines() {
    Shown run = first();
    String idle = Units.percent(run.timeline().idleShare());
    String figures =
        "%s %s; idle %s of it, %s of the longest %s's span; peak %s %s"
            .formatted(
                clock == TimeNotation.SECONDS && run.period().isEmpty() ? "step" : "makespan",
                clock.duration(run.makespan()),
                idle,
                Units.percent(run.timeline().spanIdleShare()),
                Lanes.word(run.timeline()),
                run.inBytes() ? "memory" : "activations",
                run.amount(run.peak()));
    return Stream.of(figures, run.periodWords(clock), run.numbering().ranksOfStages())
        .filter(line -> !line.isEmpty())
        .toList();
  }

  /** {@code memory per device}, or {@code activations held}. */
  String memory() {
    return first().inBytes() ? "memory per device" : "activations held";
  }

  /**
   * What the curves of a run's memory count, in words.
   *
   * @param scale which caps are drawn
   */
  String held(Shown run, SvgScale scale) {
    String drawn =
        run.timeline().memory().stream().anyMatch(memory -> scale.shows(memory.capacity()))
            ? " (dashed)"
            : "";
    if (run.inBytes()) {
      return run.isCapped() ? " of " + run.cap() + drawn : "";
    }
    return ", in micro-batches of a stage"
        + (run.isCapped() ? "; the cap is " + run.cap() + drawn : "");
  }
}
