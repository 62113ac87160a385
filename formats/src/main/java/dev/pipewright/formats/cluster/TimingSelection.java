package dev.pipewright.formats.cluster;

import dev.pipewright.profile.CollectiveTiming.Kind;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What of a file is wanted, and what the file may not say.
 *
 * @param collective only these; where the file does not say what it times, it is these
 * @param devices only timings of so many; where the file does not say how many, it is so many
 * @param machine only timings of this one
 */
public record TimingSelection(
    Optional<Kind> collective, OptionalInt devices, Optional<String> machine) {
  public static final TimingSelection ALL =
      new TimingSelection(Optional.empty(), OptionalInt.empty(), Optional.empty());
}
