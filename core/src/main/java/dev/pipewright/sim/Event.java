package dev.pipewright.sim;

/** Events as numbers: what kind, of whom, and which version of it. */
final class Event {
  enum Kind {
    /** A rank ends the ops it is at. */
    COMPUTED(0),
    /** A message has arrived. */
    LANDED(1),
    /** An exchange is over. */
    EXCHANGED(2);

    private final int code;

    Kind(int code) {
      this.code = code;
    }
  }

  private static final Kind[] KINDS = Kind.values(); // by code
  private static final int VERSIONS = 0x3FFFFFFF; // as many as an event can tell apart

  private Event() {}

  static long computed(int rank, int version) {
    return of(Kind.COMPUTED, rank, version);
  }

  static long landing(int flight, int version) {
    return of(Kind.LANDED, flight, version);
  }

  static long exchanged(int exchange) {
    return of(Kind.EXCHANGED, exchange, 0);
  }

  private static long of(Kind kind, int subject, int version) {
    return (long) kind.code << 62 | (long) (version & VERSIONS) << 32 | subject;
  }

  static int following(int version) {
    return version + 1 & VERSIONS;
  }

  static Kind kind(long event) {
    return KINDS[(int) (event >>> 62)];
  }

  static int subject(long event) {
    return (int) event;
  }

  static int version(long event) {
    return (int) (event >>> 32) & VERSIONS;
  }
}
