package dev.pipewright.formats.cluster;

import dev.pipewright.formats.cluster.MeasuredTimings.Timed;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.CollectiveTiming.Kind;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Collects what the readers of measured collectives find in a file. */
final class TimingsFound {
  /** Beyond these a number is a slip rather than a measurement. */
  static final int MOST_DEVICES = 1_000_000;

  private static final double MOST_BYTES = 1e18;
  private static final double SHORTEST_SECONDS = 1e-12;
  private static final double LONGEST_SECONDS = 1e6;

  final List<Timed> lines = new ArrayList<>();
  final List<LeftOut> leftOut = new ArrayList<>();
  final Set<String> notes = new LinkedHashSet<>();

  /** {@code time} is the time as written. */
  void add(int line, Kind kind, int devices, double bytes, double seconds, String time) {
    Optional<LeftOut> mistake = mistake(line, devices, bytes, seconds, time);
    if (mistake.isPresent()) {
      leftOut.add(mistake.get());
    } else {
      lines.add(new Timed(line, new CollectiveTiming(kind, devices, bytes, seconds)));
    }
  }

  void leaveOut(int line, String why, String remedy) {
    leftOut.add(new LeftOut(line, why, remedy));
  }

  /** What of a timing cannot be. */
  static Optional<LeftOut> mistake(
      int line, int devices, double bytes, double seconds, String time) {
    if (devices < 2 || devices > MOST_DEVICES) {
      return Optional.of(
          new LeftOut(
              line,
              devices < 2
                  ? "devices=" + devices + " exchange nothing"
                  : "devices=" + devices + " are too many",
              "measure 2 to 1,000,000 devices"));
    }
    if (!(bytes > 0 && bytes <= MOST_BYTES)) {
      return Optional.of(
          new LeftOut(
              line,
              String.format(Locale.ROOT, "the size %s is no message", bytes),
              "sizes are bytes > 0 and <= 1e18"));
    }
    if (!(seconds >= SHORTEST_SECONDS && seconds <= LONGEST_SECONDS)) {
      return Optional.of(
          new LeftOut(
              line,
              "the time " + time + " is impossible",
              "a time is a number from 1e-12 to 1e6 seconds"));
    }
    return Optional.empty();
  }
}
