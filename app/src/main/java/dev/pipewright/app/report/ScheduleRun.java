package dev.pipewright.app.report;

import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A schedule that ran, with what its pictures and tables say about it.
 *
 * @param name the schedule's name
 * @param microBatches of all directions
 * @param times the assumed times in words
 * @param chunks stages of each rank and direction
 * @param starts by rank and position in its program
 * @param ends by rank and position in its program
 * @param memoryCap in micro-batch activations of one stage
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ScheduleRun(
    String name,
    int microBatches,
    String times,
    int chunks,
    Schedule schedule,
    double[][] starts,
    double[][] ends,
    Figures figures,
    MemoryCap memoryCap) {

  private static final int LONGEST = 40; // characters of all ranks' caps

  /**
   * The figures of a run.
   *
   * @param idleShare of the makespan
   * @param spanIdleShare of the longest span from a rank's first op to its last
   * @param busy seconds that each rank computes
   * @param before activations of one chunk and micro-batch that each rank holds at first
   * @param peaks the most of each
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Figures(
      double makespan,
      double idleShare,
      double spanIdleShare,
      double[] busy,
      int[] before,
      int[] peaks) {}

  int before(int rank) {
    return figures.before()[rank];
  }

  long[] program(int rank) {
    return schedule.packed(rank);
  }

  int ranks() {
    return schedule.ranks();
  }

  double start(int rank, int position) {
    return starts[rank][position];
  }

  double end(int rank, int position) {
    return ends[rank][position];
  }

  double makespan() {
    return figures.makespan();
  }

  /** The part of the makespan in which a rank computes nothing. */
  double idleShare(int rank) {
    return makespan() > 0 ? 1 - figures.busy()[rank] / makespan() : 0;
  }

  /** The most activations that each rank holds, in those of a stage and micro-batch. */
  double[] peaks() {
    double[] peaks = new double[ranks()];
    for (int rank = 0; rank < peaks.length; rank++) {
      peaks[rank] = (double) figures.peaks()[rank] / chunks;
    }
    return peaks;
  }

  /** The most that any rank holds. */
  double peak() {
    double most = 0;
    for (double peak : peaks()) {
      most = Math.max(most, peak);
    }
    return most;
  }

  boolean isCapped() {
    return memoryCap.isLimited();
  }

  /** Whether a rank holds more than it may. */
  boolean exceedsCap(int rank) {
    return memoryCap.isExceeded(rank, (double) figures.peaks()[rank] / chunks);
  }

  /** Whether any does. */
  boolean exceedsCap() {
    return IntStream.range(0, ranks()).anyMatch(this::exceedsCap);
  }

  /** {@code 8}, {@code 8:7:6:5} by rank, or {@code 1 to 64 by rank} where that is too long. */
  String cap() {
    List<Double> values = memoryCap.values();
    if (memoryCap.isEqual()) {
      return ScheduleText.number(values.get(0));
    }
    String all = values.stream().map(ScheduleText::number).collect(Collectors.joining(":"));
    return all.length() <= LONGEST
        ? all
        : "%s to %s by rank"
            .formatted(
                ScheduleText.number(memoryCap.least()),
                ScheduleText.number(Collections.max(values)));
  }

  /**
   * Which of its rank's stages each stage of each chain is, counted from 0. The same stages of
   * several chains are one, unless they are the two directions.
   */
  int[] shades() {
    Placement placement = schedule.placement();
    int[] shades = new int[placement.stages()];
    int[] count = new int[ranks()];
    boolean runsBothWays = runsBothWays();
    Map<Long, Integer> shadeOf = new HashMap<>();
    for (int stage = 0; stage < shades.length; stage++) {
      int rank = placement.rankOf(stage);
      int same = runsBothWays ? stage : stage % placement.depth();
      shades[stage] = shadeOf.computeIfAbsent((long) rank << 32 | same, key -> count[rank]++);
    }
    return shades;
  }

  /** Whether a rank has several stages. */
  boolean hasShades() {
    return Arrays.stream(shades()).anyMatch(shade -> shade > 0);
  }

  /** Whether two pipelines run through the same ranks, from both ends. */
  boolean runsBothWays() {
    Placement placement = schedule.placement();
    int stages = placement.stages();
    boolean mirrored = placement.chains() == 2;
    for (int stage = 0; mirrored && stage < stages; stage++) {
      mirrored = placement.rankOf(stage) == placement.rankOf(stages - 1 - stage);
    }
    return mirrored;
  }

  /** The passes that occur. */
  Set<Pass> passes() {
    Set<Pass> passes = EnumSet.noneOf(Pass.class);
    for (int rank = 0; rank < ranks(); rank++) {
      for (long op : program(rank)) {
        passes.add(Schedule.pass(op));
      }
    }
    return passes;
  }

  /** Whether the op at a position runs together with the one before it. */
  boolean joinsPrevious(int rank, int position) {
    return position > 0 && Schedule.isJoined(program(rank)[position - 1]);
  }

  /** Whether the op at a position runs together with the one behind it. */
  boolean joinsNext(int rank, int position) {
    return Schedule.isJoined(program(rank)[position]);
  }

  String title() {
    return title(List.of(this));
  }

  /** {@code 1f1b, zb-h1: 4 ranks, 8 micro-batches}; {@code 4 to 6 ranks} where they differ. */
  static String title(List<ScheduleRun> runs) {
    var ranks = runs.stream().mapToInt(ScheduleRun::ranks).summaryStatistics();
    int microBatches = runs.get(0).microBatches();
    return runs.stream().map(ScheduleRun::name).collect(Collectors.joining(", "))
        + ": "
        + (ranks.getMin() < ranks.getMax() ? ranks.getMin() + " to " : "")
        + Words.count(ranks.getMax(), "rank")
        + ", "
        + Words.count(microBatches, "micro-batch");
  }
}
