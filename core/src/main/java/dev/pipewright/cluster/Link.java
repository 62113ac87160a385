package dev.pipewright.cluster;

import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.Check;
import dev.pipewright.units.Seconds;
import java.util.List;

/**
 * Hockney's two constants of a link: {@code latency + bytes / bandwidth} for one message.
 *
 * <p>Over several decades of size one pair of constants is not enough: protocols change with the
 * size. Where that has been measured, small messages have constants of their own.
 *
 * @param latency of large messages
 * @param bandwidth of large messages
 * @param small the constants of smaller messages, ascending by size; empty where one pair is used
 */
public record Link(Seconds latency, BytesPerSecond bandwidth, List<Piece> small) {

  /** The constants of messages of up to {@code upToBytes}. */
  public record Piece(double upToBytes, Seconds latency, BytesPerSecond bandwidth) {
    public Piece {
      Check.that(upToBytes > 0, "a piece needs a size: up_to_bytes=%s", upToBytes);
    }
  }

  public Link {
    small = List.copyOf(small);
    for (int i = 1; i < small.size(); i++) {
      Check.that(
          small.get(i).upToBytes() > small.get(i - 1).upToBytes(),
          "pieces must ascend by size: up_to_bytes=%s follows %s",
          small.get(i).upToBytes(),
          small.get(i - 1).upToBytes());
    }
  }

  public Link(Seconds latency, BytesPerSecond bandwidth) {
    this(latency, bandwidth, List.of());
  }

  public static Link of(double latencySeconds, double bytesPerSecond) {
    return new Link(new Seconds(latencySeconds), new BytesPerSecond(bytesPerSecond));
  }

  /** Seconds for one message of {@code bytes}. */
  public double seconds(double bytes) {
    return seconds(bytes, 1);
  }

  /** Seconds for one message of {@code bytes} while {@code flows} messages share the bandwidth. */
  public double seconds(double bytes, double flows) {
    for (Piece piece : small) {
      if (bytes <= piece.upToBytes()) {
        return piece.latency().value() + flows * bytes / piece.bandwidth().value();
      }
    }
    return latency.value() + flows * bytes / bandwidth.value();
  }
}
