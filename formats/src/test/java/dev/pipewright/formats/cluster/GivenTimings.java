package dev.pipewright.formats.cluster;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.CollectiveTiming.Kind;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Files of timings, and what is chosen of them. */
final class GivenTimings {
  private GivenTimings() {}

  static Path file(Path folder, String text) {
    return Refusal.file(folder, "timings", text);
  }

  static List<CollectiveTiming> read(Path folder, String text, TimingSelection selection) {
    return CollectiveTimings.read(file(folder, text), selection).timings();
  }

  static void assertRefused(Path folder, String expected, String text, TimingSelection selection) {
    Refusal.assertRefused(
        expected, file(folder, text), path -> CollectiveTimings.read(path, selection));
  }

  /** Why a file of that name is refused. */
  static String refusal(Path folder, String name, String text) {
    return Refusal.of(
        Refusal.file(folder, name, text),
        file -> CollectiveTimings.read(file, TimingSelection.ALL));
  }

  static TimingSelection devices(int devices) {
    return new TimingSelection(Optional.empty(), OptionalInt.of(devices), Optional.empty());
  }

  static TimingSelection machine(String machine) {
    return new TimingSelection(Optional.empty(), OptionalInt.empty(), Optional.of(machine));
  }

  static TimingSelection collective(Kind kind) {
    return new TimingSelection(Optional.of(kind), OptionalInt.empty(), Optional.empty());
  }
}
