package dev.pipewright.cost;

import dev.pipewright.cluster.Link;

/**
 * A link as one of the flows that share it sees it: the constants of {@link Link} with the
 * bandwidth divided by the number of flows, in arrays, since planners ask millions of times.
 */
final class SharedLink {
  private final double[] upToBytes; // ascending, the last one infinite
  private final double[] latency;
  private final double[] secondsPerByte;

  private SharedLink(double[] upToBytes, double[] latency, double[] secondsPerByte) {
    this.upToBytes = upToBytes;
    this.latency = latency;
    this.secondsPerByte = secondsPerByte;
  }

  /** One pair of constants for messages of every size. */
  static SharedLink of(double latency, double secondsPerByte) {
    return new SharedLink(
        new double[] {Double.POSITIVE_INFINITY},
        new double[] {latency},
        new double[] {secondsPerByte});
  }

  static SharedLink of(Link link, double flows) {
    int small = link.small().size();
    double[] upToBytes = new double[small + 1];
    double[] latency = new double[small + 1];
    double[] secondsPerByte = new double[small + 1];
    for (int i = 0; i < small; i++) {
      Link.Piece piece = link.small().get(i);
      upToBytes[i] = piece.upToBytes();
      latency[i] = piece.latency().value();
      secondsPerByte[i] = flows / piece.bandwidth().value();
    }
    upToBytes[small] = Double.POSITIVE_INFINITY;
    latency[small] = link.latency().value();
    secondsPerByte[small] = flows / link.bandwidth().value();
    return new SharedLink(upToBytes, latency, secondsPerByte);
  }

  /** How many pairs of constants there are, small messages first. */
  int pieces() {
    return latency.length;
  }

  double upToBytes(int piece) {
    return upToBytes[piece];
  }

  double latency(int piece) {
    return latency[piece];
  }

  double secondsPerByte(int piece) {
    return secondsPerByte[piece];
  }

  double leastLatency() {
    return least(latency);
  }

  double leastSecondsPerByte() {
    return least(secondsPerByte);
  }

  private static double least(double[] values) {
    double least = values[0];
    for (double value : values) {
      least = Math.min(least, value);
    }
    return least;
  }

  /** Seconds for one message. */
  double seconds(double bytes) {
    int piece = 0;
    while (bytes > upToBytes[piece]) {
      piece++;
    }
    return latency[piece] + bytes * secondsPerByte[piece];
  }

  /** Whether no message takes longer on {@code that}; no where pieces would have to be compared. */
  boolean neverFasterThan(SharedLink that) {
    return pieces() == 1
        && that.pieces() == 1
        && latency[0] >= that.latency[0]
        && secondsPerByte[0] >= that.secondsPerByte[0];
  }

  /** The slowest of the links for a message: what synchronous steps wait for. */
  static double slowest(SharedLink[] links, double bytes) {
    double seconds = 0;
    for (SharedLink link : links) {
      seconds = Math.max(seconds, link.seconds(bytes));
    }
    return seconds;
  }
}
