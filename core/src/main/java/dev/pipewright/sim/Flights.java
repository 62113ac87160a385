package dev.pipewright.sim;

import java.util.Arrays;

/** The messages under way: what is left of each, and when it would land at its present rate. */
final class Flights {
  private int[] from = new int[16]; // ranks
  private int[] to = new int[16];
  private long[] cargo = new long[16];
  private double[] left = new double[16]; // bytes, as of the time below
  private double[] since = new double[16];
  private double[] rate = new double[16];
  private int[] version = new int[16]; // of its landing; those before are void
  private int[] unused = new int[16];
  private int unusedCount;
  private int used;

  /** A message of so many bytes whose first leaves at {@code time}, once it has a rate. */
  int depart(int sender, int receiver, long what, double bytes, double time) {
    int flight = unusedCount > 0 ? unused[--unusedCount] : grown();
    from[flight] = sender;
    to[flight] = receiver;
    cargo[flight] = what;
    left[flight] = bytes;
    since[flight] = time;
    rate[flight] = 0;
    return flight;
  }

  private int grown() {
    if (used == from.length) {
      int size = 2 * used;
      from = Arrays.copyOf(from, size);
      to = Arrays.copyOf(to, size);
      cargo = Arrays.copyOf(cargo, size);
      left = Arrays.copyOf(left, size);
      since = Arrays.copyOf(since, size);
      rate = Arrays.copyOf(rate, size);
      version = Arrays.copyOf(version, size);
      unused = Arrays.copyOf(unused, size);
    }
    return used++;
  }

  /** Books what has been sent until {@code now} and goes on at another rate. */
  void progress(int flight, double now, double newRate) {
    if (now > since[flight]) {
      left[flight] = Math.max(0, left[flight] - (now - since[flight]) * rate[flight]);
      since[flight] = now;
    }
    rate[flight] = newRate;
    version[flight] = Event.following(version[flight]);
  }

  /** When it would land if its rate stayed. */
  double landing(int flight) {
    return since[flight] + (left[flight] == 0 ? 0 : left[flight] / rate[flight]);
  }

  void end(int flight) {
    version[flight] = Event.following(version[flight]);
    unused[unusedCount++] = flight;
  }

  double rate(int flight) {
    return rate[flight];
  }

  int version(int flight) {
    return version[flight];
  }

  int from(int flight) {
    return from[flight];
  }

  int to(int flight) {
    return to[flight];
  }

  long cargo(int flight) {
    return cargo[flight];
  }
}
