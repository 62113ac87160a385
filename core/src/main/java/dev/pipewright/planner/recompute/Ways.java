package dev.pipewright.planner.recompute;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Ways to treat the layers of a stage before some end, of which none beats another in everything;
 * those with less extra time first. The stage's own input is not counted. They are found one by one
 * as they are asked for.
 */
final class Ways {
  /** Before the first layer. */
  static final Ways NOTHING = one(0, 0, 0, 0);

  private final @Nullable WayMerge more; // null where all are known
  private double[] extra; // seconds that the backward passes of one micro-batch take longer
  private double[] held; // bytes that a micro-batch in flight holds
  private double[] peak; // bytes that one holds and needs at most while it runs backward
  private int[] from; // where the last piece begins: computed again, or kept (complement)
  private int[] before; // the way, of those for the layers before that piece
  private int size;
  private final @Nullable Asked[] asked =
      new Asked[16]; // by micro-batches in flight, the last digits

  /** What was asked last for so many micro-batches in flight. */
  private static final class Asked {
    int inFlight;
    double bytes = Double.POSITIVE_INFINITY;
    int way; // the first that fits into so many, or how many there are
    double least = Double.NaN;
  }

  /** Ways that are yet to be found. */
  Ways(@Nullable WayMerge more) {
    this.more = more;
    int room = more == null ? 1 : 8;
    extra = new double[room];
    held = new double[room];
    peak = new double[room];
    from = new int[room];
    before = new int[room];
  }

  /** One way alone: all is kept. */
  static Ways keeping(double kept, int first) {
    return one(0, kept, kept, ~first);
  }

  /** One way alone: everything runs again. */
  static Ways again(double kept, double seconds, int first) {
    return one(seconds, 0, kept, first);
  }

  private static Ways one(double seconds, double held, double peak, int from) {
    Ways one = new Ways(null);
    one.add(seconds, held, peak, from, 0);
    return one;
  }

  void add(double seconds, double bytes, double most, int piece, int way) {
    if (size == extra.length) {
      extra = Arrays.copyOf(extra, 2 * size);
      held = Arrays.copyOf(held, 2 * size);
      peak = Arrays.copyOf(peak, 2 * size);
      from = Arrays.copyOf(from, 2 * size);
      before = Arrays.copyOf(before, 2 * size);
    }
    extra[size] = seconds;
    held[size] = bytes;
    peak[size] = most;
    from[size] = piece;
    before[size++] = way;
  }

  /** Whether there are more ways than {@code way}. */
  boolean has(int way) {
    while (size <= way) {
      if (more == null || !more.next(this)) {
        return false;
      }
    }
    return true;
  }

  /** How many have been found. */
  int size() {
    return size;
  }

  /** Whether there is no other such way among those found, or before them. */
  boolean exact() {
    return more == null || more.exact();
  }

  double extra(int way) {
    return extra[way];
  }

  double held(int way) {
    return held[way];
  }

  double peak(int way) {
    return peak[way];
  }

  int from(int way) {
    return from[way] < 0 ? ~from[way] : from[way];
  }

  boolean again(int way) {
    return from[way] >= 0;
  }

  int before(int way) {
    return before[way];
  }

  private double bytes(int way, int inFlight) {
    return (inFlight - 1) * held[way] + peak[way];
  }

  private Asked asked(int inFlight) {
    int place = inFlight & (asked.length - 1);
    @Nullable Asked known = asked[place];
    if (known == null || known.inFlight != inFlight) {
      known = new Asked();
      known.inFlight = inFlight;
      asked[place] = known;
    }
    return known;
  }

  /** The way with the least extra time with which so many micro-batches fit; -1 for none. */
  int first(int inFlight, double bytes) {
    Asked last = asked(inFlight);
    int way = bytes <= last.bytes ? last.way : 0; // none before fits into less either
    while (has(way) && bytes(way, inFlight) > bytes) {
      way++;
    }
    last.bytes = bytes;
    last.way = way;
    return way < size ? way : -1;
  }

  double leastBytes(int inFlight) {
    Asked last = asked(inFlight);
    if (Double.isNaN(last.least)) {
      last.least = Double.POSITIVE_INFINITY;
      for (int way = 0; has(way); way++) {
        last.least = Math.min(last.least, bytes(way, inFlight));
      }
    }
    return last.least;
  }
}
