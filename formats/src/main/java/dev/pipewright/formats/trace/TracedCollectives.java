package dev.pipewright.formats.trace;

import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.CollectiveTiming.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Collectives by kind, size and group. A kernel also waits for the last rank to come, so of the
 * same collective on several ranks the shortest kernel counts, and of all with the same size the
 * median.
 */
final class TracedCollectives {
  private TracedCollectives() {}

  private record Same(Kind kind, int group, long bytes) implements Comparable<Same> {
    @Override
    public int compareTo(Same that) {
      return Comparator.comparing(Same::kind)
          .thenComparingInt(Same::group)
          .thenComparingLong(Same::bytes)
          .compare(this, that);
    }
  }

  /** Those of the counted steps whose size is known. */
  static List<CollectiveTiming> of(List<TracedRank> ranks) {
    Map<Same, List<Double>> shortest = new TreeMap<>();
    for (TracedRank rank : ranks) {
      Map<Same, Integer> seen = new TreeMap<>();
      for (TraceWork work : collectives(rank)) {
        Optional<Same> same = same(work);
        if (same.isEmpty()) {
          continue;
        }
        int number = seen.merge(same.get(), 1, Integer::sum) - 1;
        List<Double> all = shortest.computeIfAbsent(same.get(), key -> new ArrayList<>());
        if (number < all.size()) {
          all.set(number, Math.min(all.get(number), work.seconds()));
        } else {
          all.add(work.seconds());
        }
      }
    }
    List<CollectiveTiming> timings = new ArrayList<>();
    shortest.forEach((same, seconds) -> {
      double median =
          TracedLayers.median(seconds.stream().mapToDouble(Double::doubleValue).toArray());
      if (median > 0) {
        timings.add(new CollectiveTiming(same.kind, same.group, same.bytes, median));
      }
    });
    return timings;
  }

  private static List<TraceWork> collectives(TracedRank rank) {
    return rank.works.stream()
        .filter(work -> work.type() == TraceWork.Type.COMMUNICATION)
        .filter(rank::counts)
        .sorted(Comparator.comparingDouble(TraceWork::start))
        .toList();
  }

  private static Optional<Same> same(TraceWork work) {
    return work.group() >= 2 && work.bytes() > 0
        ? work.collective().map(kind -> new Same(kind, work.group(), work.bytes()))
        : Optional.empty();
  }

  /** Seconds of communication in the counted steps whose kind, size or group is not known. */
  static double unknown(List<TracedRank> ranks) {
    return ranks.stream()
        .flatMap(rank -> collectives(rank).stream())
        .filter(work -> same(work).isEmpty())
        .mapToDouble(TraceWork::seconds)
        .sum();
  }
}
