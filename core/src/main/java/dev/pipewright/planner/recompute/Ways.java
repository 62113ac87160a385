package dev.pipewright.planner.recompute;

/**
 * Ways to treat the layers of a stage before some end, of which none beats another in everything;
 * those with less extra time first. The stage's own input is not counted.
 *
 * @param extra seconds that the backward passes of one micro-batch take longer
 * @param held bytes that a micro-batch in flight holds
 * @param peak bytes that one holds and needs at most while it runs backward; no less than held
 * @param from where the last piece begins: layers that are computed again, or kept (complement)
 * @param before the way, of those for the layers before that piece
 * @param exact whether there is no other such way
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Ways(double[] extra, double[] held, double[] peak, int[] from, int[] before, boolean exact) {
  /** Before the first layer. */
  static final Ways NOTHING =
      new Ways(new double[1], new double[1], new double[1], new int[1], new int[1], true);

  /** One way alone: all is kept. */
  static Ways keeping(double kept, int first) {
    return one(0, kept, kept, ~first);
  }

  /** One way alone: everything runs again. */
  static Ways again(double kept, double seconds, int first) {
    return one(seconds, 0, kept, first);
  }

  private static Ways one(double seconds, double held, double peak, int from) {
    return new Ways(
        new double[] {seconds},
        new double[] {held},
        new double[] {peak},
        new int[] {from},
        new int[1],
        true);
  }

  int size() {
    return extra.length;
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

  /** The way with the least extra time with which so many micro-batches fit; -1 for none. */
  int first(int inFlight, double bytes) {
    for (int way = 0; way < extra.length; way++) {
      if (bytes(way, inFlight) <= bytes) {
        return way;
      }
    }
    return -1;
  }

  double leastBytes(int inFlight) {
    double least = Double.POSITIVE_INFINITY;
    for (int way = 0; way < extra.length; way++) {
      least = Math.min(least, bytes(way, inFlight));
    }
    return least;
  }
}
