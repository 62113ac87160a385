package dev.pipewright.app.report;

import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.trace.Timeline;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A schedule that ran, with what its pictures and tables say about it.
 *
 * @param name the schedule's name
 * @param microBatches of all directions
 * @param times the assumed times in words
 * @param chunks stages of each rank and direction
 * @param timeline what ran when
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
    Timeline timeline,
    double[][] starts,
    double[][] ends,
    Figures figures,
    MemoryCap memoryCap) {

  private static final int LONGEST = 40; // characters of all ranks' caps

  /**
   * How often a schedule that never flushes repeats once its pipeline is full.
   *
   * @param microBatches that it completes in a period
   * @param idleShare the part of a period for which a rank computes nothing, on average
   */
  public record Period(double time, int microBatches, double idleShare) {}

  /**
   * The figures of a run.
   *
   * @param idleShare of the makespan
   * @param spanIdleShare of the longest span from a rank's first op to its last
   * @param busy seconds that each rank computes
   * @param before activations of one chunk and micro-batch that each rank holds at first
   * @param peaks the most of each
   * @param period how often it repeats once it is full, where it never flushes
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Figures(
      double makespan,
      double idleShare,
      double spanIdleShare,
      double[] busy,
      int[] before,
      int[] peaks,
      Optional<Period> period) {
    /** Of a schedule that flushes. */
    public Figures(
        double makespan,
        double idleShare,
        double spanIdleShare,
        double[] busy,
        int[] before,
        int[] peaks) {
      this(makespan, idleShare, spanIdleShare, busy, before, peaks, Optional.empty());
    }
  }

  /** {@code period 6 for 1 micro-batch; idle 50 % of it once the pipeline is full}, or empty. */
  String period() {
    return figures
        .period()
        .map(period ->
            "period %s for %s; idle %s of it once the pipeline is full"
                .formatted(
                    ScheduleText.number(period.time()),
                    microBatches(period),
                    Units.percent(period.idleShare())))
        .orElse("");
  }

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

  /** {@code 4 micro-batches}. */
  static String microBatches(Period period) {
    int count = period.microBatches();
    return Numbers.grouped(count) + (count == 1 ? " micro-batch" : " micro-batches");
  }

  /**
   * Whether the number of an op is its stage, counted in its chain, and not its micro-batch: where
   * each rank runs all stages in turn, as workers of data parallelism do.
   */
  boolean numbersStages() {
    return schedule.placement().chains() > 1 && !runsBothWays() && hasShades();
  }

  /**
   * The number that an op shows: its stage, see {@link #numbersStages}, or its micro-batch, counted
   * in its direction or, where chains take micro-batches in turn, over all chains.
   */
  int number(long op) {
    Placement placement = schedule.placement();
    int number = Schedule.microBatch(op);
    if (numbersStages() && !Schedule.pass(op).exchanges()) {
      return Schedule.stage(op) % placement.depth();
    }
    boolean inTurn = placement.chains() > 1 && !runsBothWays() && !ofStep(op);
    return inTurn ? number * placement.chains() + Schedule.stage(op) / placement.depth() : number;
  }

  /** Whether an op is of a training step, not of a micro-batch. */
  private static boolean ofStep(long op) {
    return Schedule.pass(op) == Pass.UPDATE || Schedule.pass(op).exchanges();
  }

  /** {@code stage 0 on ranks 0–3, stage 1 on ranks 4–6}, where stages have several; or empty. */
  String ranksOfStages() {
    Placement placement = schedule.placement();
    if (placement.chains() == 1 || runsBothWays() || hasShades()) {
      return "";
    }
    List<String> words = new ArrayList<>();
    for (int stage = 0; stage < placement.depth(); stage++) {
      Set<Integer> ranks = new TreeSet<>();
      for (int chain = 0; chain < placement.chains(); chain++) {
        ranks.add(placement.rankOf(chain * placement.depth() + stage));
      }
      words.add(
          "stage %d on %s %s"
              .formatted(
                  stage, ranks.size() == 1 ? "rank" : "ranks", Words.devices(List.copyOf(ranks))));
    }
    return String.join(", ", words);
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

  /** The passes that take time, which are those that lines of text show. */
  Set<Pass> shownPasses() {
    Set<Pass> passes = EnumSet.noneOf(Pass.class);
    for (int rank = 0; rank < ranks(); rank++) {
      for (int i = 0; i < program(rank).length; i++) {
        if (end(rank, i) > start(rank, i)) {
          passes.add(Schedule.pass(program(rank)[i]));
        }
      }
    }
    return passes;
  }

  /** Those that pictures show: what takes time, and hand-overs, which have arrows. */
  Set<Pass> drawnPasses() {
    Set<Pass> drawn = shownPasses();
    if (passes().contains(Pass.HAND_ON)) {
      drawn.add(Pass.HAND_ON);
    }
    return drawn;
  }

  /** Whether the op at a position runs together with the one before it. */
  boolean joinsPrevious(int rank, int position) {
    return position > 0 && Schedule.isJoined(program(rank)[position - 1]);
  }

  /** Whether the op at a position runs together with the one behind it. */
  boolean joinsNext(int rank, int position) {
    return Schedule.isJoined(program(rank)[position]);
  }

  public String title() {
    return title(List.of(this));
  }

  /** What the numbers of ops are in all of them: see {@link #numbersStages}. */
  static String numbers(List<ScheduleRun> runs) {
    boolean stages = runs.stream().anyMatch(ScheduleRun::numbersStages);
    boolean batches = runs.stream().anyMatch(run -> !run.numbersStages());
    if (!stages) {
      return "micro-batches";
    }
    return batches ? "micro-batches, or stages where a rank runs all of them" : "stages";
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
