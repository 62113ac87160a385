package dev.pipewright.formats.sweep;

import java.util.List;
import java.util.stream.Stream;

/**
 * One combination of a sweep.
 *
 * @param number from 1, in the order of the file: the last list varies fastest
 * @param flags what its own list adds
 */
public record SweepPoint(
    int number, SweepEntry model, SweepEntry cluster, SweepEntry batch, SweepEntry flags) {
  /** All flags, in the order of the lists. */
  public List<String> words() {
    return Stream.of(model, cluster, batch, flags).flatMap(each -> each.flags().stream()).toList();
  }

  public int globalBatch() {
    return Integer.parseInt(batch.value());
  }

  public SweepKey key() {
    return new SweepKey(model.value(), cluster.value(), globalBatch(), String.join(" ", words()));
  }
}
