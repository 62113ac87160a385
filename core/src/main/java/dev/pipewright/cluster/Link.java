package dev.pipewright.cluster;

import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.Seconds;

/** Hockney's two constants of a link: {@code latency + bytes / bandwidth} for one message. */
public record Link(Seconds latency, BytesPerSecond bandwidth) {
  public static Link of(double latencySeconds, double bytesPerSecond) {
    return new Link(new Seconds(latencySeconds), new BytesPerSecond(bytesPerSecond));
  }

  /** Seconds for one message of {@code bytes}. */
  public double seconds(double bytes) {
    return latency.value() + bytes / bandwidth.value();
  }
}
