package dev.pipewright.app.cli.schedule;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.schedule.Bubble;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.CountRule;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.catalog.UnsuitableException;
import dev.pipewright.sim.StaticSimulator;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * What a schedule of the catalogue is like: what its entry states, and what a small one shows.
 *
 * @param evenChunks whether an odd number of chunks does not suit
 * @param copies of the parameters that ranks hold together; empty for data-parallel workers, which
 *     exchange them
 * @param splits whether the gradients of inputs and of weights are ops of their own
 * @param peak the most activations that a rank of the small one holds, in micro-batches of its
 *     share of the network
 */
public record ScheduleFacts(
    ScheduleEntry entry, boolean evenChunks, OptionalDouble copies, boolean splits, double peak) {
  /** Ranks of the small one. */
  public static final int RANKS = 4;

  /** Micro-batches of the small one, which suit every schedule. */
  public static final int MICRO_BATCHES = 8;

  private static final String NONE = "–";

  /** Found by making a small one with passes of equal times. */
  public static ScheduleFacts of(ScheduleEntry entry) {
    ScheduleRequest request = request(entry.chunks());
    Schedule small = entry.make(request);
    int[] peaks = StaticSimulator.run(small, request.opTimes(small.placement())).peakActivations();
    return new ScheduleFacts(
        entry,
        !entry.fixedChunks() && isRefused(entry, request(entry.chunks() + 1)),
        small.exchanging() ? OptionalDouble.empty() : OptionalDouble.of(small.placement().copies()),
        splits(small),
        (double) Arrays.stream(peaks).max().orElse(0) / entry.chunks());
  }

  private static ScheduleRequest request(int chunks) {
    return new ScheduleRequest(
        RANKS,
        MICRO_BATCHES,
        chunks,
        ScheduleRequest.Times.of(ScheduleRequest.Times.USUAL, RANKS),
        Double.POSITIVE_INFINITY);
  }

  private static boolean isRefused(ScheduleEntry entry, ScheduleRequest request) {
    try {
      entry.make(request);
      return false;
    } catch (UnsuitableException e) {
      return true;
    }
  }

  private static boolean splits(Schedule schedule) {
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      for (long op : schedule.packed(rank)) {
        if (Schedule.pass(op) == Op.Pass.BACKWARD_WEIGHT) {
          return true;
        }
      }
    }
    return false;
  }

  /** The headings of {@link #cells}. */
  public static List<String> headings() {
    return List.of(
        "schedule",
        "chunks",
        "parameter copies",
        "peak activations",
        "backward",
        "ranks",
        "micro-batches",
        "updates",
        "bubble",
        "paper");
  }

  /** In words, for a table. */
  public List<String> cells() {
    CountRule counts = entry.published().counts();
    return List.of(
        entry.name(),
        entry.chunks() + (entry.fixedChunks() ? "" : evenChunks ? ", 4, …" : " or more"),
        copies.isPresent() ? Numbers.plain(copies.getAsDouble()) : NONE,
        Numbers.plain(peak),
        splits ? "split" : "whole",
        counts.ranksWords(),
        counts.microBatchesWords(),
        updates().replace('_', ' '),
        entry.published().bubble().map(ScheduleFacts::words).orElse(NONE),
        entry.published().paper());
  }

  private static String words(Bubble bubble) {
    String holds = bubble.holds().words();
    return bubble.formula() + (holds.isEmpty() ? "" : ", where " + holds);
  }

  private String updates() {
    return entry.updates().name().toLowerCase(Locale.ROOT);
  }

  /** The same with types; what is not known is null. */
  Map<String, Object> object() {
    CountRule counts = entry.published().counts();
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("name", entry.name());
    object.put("paper", entry.published().paper());
    object.put("chunks", entry.chunks());
    object.put("fixed_chunks", entry.fixedChunks());
    object.put("even_chunks", evenChunks);
    object.put("parameter_copies", copies.isPresent() ? copies.getAsDouble() : Optional.empty());
    object.put("peak_activations", peak);
    object.put("splits_backward", splits);
    object.put("updates", updates());
    object.put("needs_durations", entry.needsDurations());
    object.put("least_ranks", counts.leastRanks());
    object.put("even_ranks", counts.evenRanks());
    object.put("least_micro_batches_per_rank", counts.leastPerRank());
    object.put("micro_batches_multiple_of", counts.multiple().name().toLowerCase(Locale.ROOT));
    object.put("bubble", entry.published().bubble().map(Bubble::formula));
    object.put("bubble_holds", entry.published().bubble().map(bubble -> bubble.holds().words()));
    return object;
  }
}
