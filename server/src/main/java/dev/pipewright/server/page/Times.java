package dev.pipewright.server.page;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Times as pages show them. */
final class Times {
  private static final DateTimeFormatter MINUTES =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm").withZone(ZoneOffset.UTC);

  private Times() {}

  /** {@code 2026-01-31 09:05}, in UTC. */
  static String minutes(Instant time) {
    return MINUTES.format(time);
  }
}
