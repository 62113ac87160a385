package dev.pipewright.sim;

/** What each rank computes at the moment, and how fast: slower while it communicates. */
final class Computing {
  private final double speed; // while a rank communicates; 1 otherwise
  private final EventQueue events;
  private final boolean[] busy; // by rank
  private final boolean[] slowed;
  private final double[] left; // seconds at full speed, as of the time below
  private final double[] since;
  private final double[] stretched; // seconds that computing has lost to communication
  private final int[] version; // of its end; those before are void

  Computing(int ranks, double slowdown, EventQueue events) {
    speed = 1 / slowdown;
    this.events = events;
    busy = new boolean[ranks];
    slowed = new boolean[ranks];
    left = new double[ranks];
    since = new double[ranks];
    stretched = new double[ranks];
    version = new int[ranks];
  }

  boolean busy(int rank) {
    return busy[rank];
  }

  void start(int rank, double seconds, double now) {
    busy[rank] = true;
    left[rank] = seconds;
    since[rank] = now;
    stretched[rank] = 0;
    expect(rank, seconds);
  }

  /** Seconds by which communication has stretched what a rank computes, or computed last. */
  double stretched(int rank) {
    return stretched[rank];
  }

  private void expect(int rank, double seconds) {
    double end = since[rank] + (slowed[rank] ? seconds / speed : seconds);
    events.add(end, Event.computed(rank, version[rank]));
  }

  /** Whether an event is a rank's end, and not void; then the rank is idle. */
  boolean ends(long event, double now) {
    int rank = Event.subject(event);
    boolean ends = busy[rank] && Event.version(event) == version[rank];
    if (ends) {
      stretch(rank, now);
      busy[rank] = false;
    }
    return ends;
  }

  /** Adds what a rank has lost since the last change. */
  private void stretch(int rank, double now) {
    if (slowed[rank]) {
      stretched[rank] += (now - since[rank]) * (1 - speed);
    }
  }

  /** From now on a rank communicates, or no longer. */
  void slowed(int rank, boolean communicates, double now) {
    if (speed == 1 || slowed[rank] == communicates) {
      return;
    }
    if (busy[rank]) {
      double done = (now - since[rank]) * (slowed[rank] ? speed : 1);
      left[rank] = Math.max(0, left[rank] - done);
      stretch(rank, now);
      since[rank] = now;
      version[rank] = Event.following(version[rank]);
    }
    slowed[rank] = communicates;
    if (busy[rank]) {
      expect(rank, left[rank]);
    }
  }
}
