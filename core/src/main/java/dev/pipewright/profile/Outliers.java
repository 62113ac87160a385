package dev.pipewright.profile;

import dev.pipewright.profile.CollectiveTiming.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Finds single timings that something else disturbed. A time is an outlier where it is more than
 * {@link #FACTOR} times what is expected of its size, or less than that share, and no neighbour
 * confirms it: not the median of the other timings of the same size, nor those of the next smaller
 * and the next larger size, of the same collective on as many devices. What is expected lies on the
 * power law between these two; at either end it is the time of the nearest sizes. So a jump or a
 * fall that a second timing confirms is another protocol and no outlier. Where more than one timing
 * in {@link #FEWEST} would be one, the noise is that large, and none is.
 */
public final class Outliers {
  /** How far off a time is that is left out. */
  public static final double FACTOR = 3;

  /** A neighbour that is so near, in proportion to its size or not, confirms a time. */
  private static final double NEAR = 1.5;

  /** Of so many timings one at most is an outlier. */
  public static final int FEWEST = 8;

  private final NavigableMap<Double, double[]> bySize = new TreeMap<>(); // ascending times

  /**
   * A disturbed timing.
   *
   * @param index in the list of timings
   * @param ratio its time in what is expected: above {@link #FACTOR}, or below its inverse
   */
  public record Outlier(int index, double ratio) {}

  private record Group(Kind kind, int devices) {}

  private Outliers(List<CollectiveTiming> timings) {
    Map<Double, List<Double>> seconds = new LinkedHashMap<>();
    for (CollectiveTiming timing : timings) {
      seconds.computeIfAbsent(timing.bytes(), size -> new ArrayList<>()).add(timing.seconds());
    }
    seconds.forEach((size, times) ->
        bySize.put(size, times.stream().mapToDouble(Double::doubleValue).sorted().toArray()));
  }

  /** The outliers, ascending by index. O(n log n). */
  public static List<Outlier> of(List<CollectiveTiming> timings) {
    Map<Group, List<Integer>> groups = new LinkedHashMap<>();
    for (int i = 0; i < timings.size(); i++) {
      Group group = new Group(timings.get(i).kind(), timings.get(i).devices());
      groups.computeIfAbsent(group, any -> new ArrayList<>()).add(i);
    }
    List<Outlier> outliers = new ArrayList<>();
    for (List<Integer> group : groups.values()) {
      Outliers neighbours = new Outliers(group.stream().map(timings::get).toList());
      List<Outlier> found = new ArrayList<>();
      for (int index : group) {
        double ratio = neighbours.ratio(timings.get(index));
        if (isFar(ratio)) {
          found.add(new Outlier(index, ratio));
        }
      }
      if (found.size() * FEWEST <= group.size()) {
        outliers.addAll(found);
      }
    }
    outliers.sort(Comparator.comparingInt(Outlier::index));
    return outliers;
  }

  /** The time in what is expected; 1 where a neighbour confirms it, or where none can deny it. */
  private double ratio(CollectiveTiming timing) {
    double size = timing.bytes();
    double seconds = timing.seconds();
    double[] same = without(bySize.getOrDefault(size, new double[0]), seconds);
    Double smaller = bySize.lowerKey(size);
    Double larger = bySize.higherKey(size);
    double expected;
    boolean confirmed;
    if (smaller != null && larger != null) {
      double below = median(smaller);
      double above = median(larger);
      double place = Math.log(size / smaller) / Math.log(larger / smaller);
      expected = below * Math.pow(above / below, place);
      confirmed =
          seconds <= NEAR * Math.max(below * size / smaller, above)
              && seconds * NEAR >= Math.min(below, above * size / larger);
    } else if (larger != null) { // the smallest: no faster one says that it is too fast
      Double next = bySize.higherKey(larger);
      expected = Math.max(median(larger), next == null ? 0 : median(next));
      confirmed = seconds < expected && same.length == 0;
    } else if (smaller != null) { // the largest: no slower one says that it is too slow
      Double next = bySize.lowerKey(smaller);
      double nearest =
          Math.min(median(smaller), next == null ? Double.POSITIVE_INFINITY : median(next));
      expected = same.length == 0 ? nearest : nearest * size / smaller;
      confirmed = seconds > expected && same.length == 0;
    } else {
      return 1;
    }
    double ratio = seconds / expected;
    boolean alike = same.length > 0 && !isFar(seconds / median(same));
    return confirmed || alike ? 1 : ratio;
  }

  private static boolean isFar(double ratio) {
    return ratio > FACTOR || ratio * FACTOR < 1;
  }

  private double median(double size) {
    return median(bySize.getOrDefault(size, new double[0]));
  }

  /** The lower one of two in the middle: what disturbs makes times longer. */
  private static double median(double[] sorted) {
    return sorted[(sorted.length - 1) / 2];
  }

  private static double[] without(double[] sorted, double seconds) {
    int own = Arrays.binarySearch(sorted, seconds);
    double[] others = new double[sorted.length - 1];
    System.arraycopy(sorted, 0, others, 0, own);
    System.arraycopy(sorted, own + 1, others, own, others.length - own);
    return others;
  }
}
