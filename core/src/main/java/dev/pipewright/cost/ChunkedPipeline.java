package dev.pipewright.cost;

/**
 * A message that travels a path in chunks, one behind the other: {@code (hops + k) · step(bytes/k)}
 * seconds with the whole number of chunks k that makes it least.
 *
 * <p>On one pair of constants the time is convex in k with its minimum at {@code √(hops · bytes · β
 * / α)}. Several links, of which the slowest counts, and constants that depend on the size leave
 * pieces that are convex: their minima, meeting points and borders are tried, so the answer is
 * exact.
 */
final class ChunkedPipeline {
  private final int hops;
  private final SharedLink[] links;
  private final double leastLatency; // of all chunks
  private final double leastSecondsPerByte;

  /**
   * @param hops steps beyond one per chunk: until the first chunk has left the path
   * @param links all of which a step uses at once
   */
  ChunkedPipeline(int hops, SharedLink[] links) {
    this.hops = hops;
    this.links = links;
    double latency = 0;
    double perByte = 0;
    for (SharedLink link : links) {
      latency = Math.max(latency, link.leastLatency());
      perByte = Math.max(perByte, link.leastSecondsPerByte());
    }
    this.leastLatency = (hops + 1) * latency;
    this.leastSecondsPerByte = perByte;
  }

  /** A quick lower bound of {@link #seconds}. */
  double atLeast(double bytes) {
    return leastLatency + bytes * leastSecondsPerByte;
  }

  /** Seconds with the best number of chunks. */
  double seconds(double bytes) {
    double best = inChunks(bytes, 1);
    for (int i = 0; i < links.length; i++) {
      for (int piece = 0; piece < links[i].pieces(); piece++) {
        double ideal =
            Math.sqrt(hops * bytes * links[i].secondsPerByte(piece) / links[i].latency(piece));
        best = Math.min(best, around(bytes, ideal));
        double border = Math.ceil(bytes / links[i].upToBytes(piece));
        best = Math.min(best, around(bytes, border - 1));
        for (int j = 0; j < i; j++) {
          best = Math.min(best, whereTheyMeet(bytes, links[i], piece, links[j]));
        }
      }
    }
    return best;
  }

  private double whereTheyMeet(double bytes, SharedLink link, int piece, SharedLink other) {
    double best = Double.POSITIVE_INFINITY;
    for (int i = 0; i < other.pieces(); i++) {
      double perByte = link.secondsPerByte(piece) - other.secondsPerByte(i);
      double latency = other.latency(i) - link.latency(piece);
      best = Math.min(best, around(bytes, bytes * perByte / latency));
    }
    return best;
  }

  /** The better of the whole numbers at or below and above {@code chunks}. */
  private double around(double bytes, double chunks) {
    if (!(chunks >= 1)) {
      return Double.POSITIVE_INFINITY; // one chunk is tried anyhow
    }
    if (Double.isInfinite(chunks)) {
      return inCountlessChunks(bytes);
    }
    double below = Math.floor(chunks);
    return Math.min(inChunks(bytes, below), inChunks(bytes, below + 1));
  }

  private double inChunks(double bytes, double chunks) {
    return (hops + chunks) * SharedLink.slowest(links, bytes / chunks);
  }

  /** Where messages are free to start. */
  private double inCountlessChunks(double bytes) {
    double seconds = 0;
    for (SharedLink link : links) {
      seconds =
          Math.max(
              seconds,
              link.latency(0) > 0 ? Double.POSITIVE_INFINITY : bytes * link.secondsPerByte(0));
    }
    return seconds;
  }
}
