package dev.pipewright.formats.sweep;

/**
 * What makes a point: two runs of equal keys have the same answer.
 *
 * @param model as on the command line
 * @param cluster as on the command line
 * @param globalBatch samples of a step
 * @param flags the other words of the command line, separated by blanks
 */
public record SweepKey(String model, String cluster, int globalBatch, String flags) {
  /** {@code bert-48 on dapple-a:1x8, 64 samples, --recompute full}. */
  @Override
  public String toString() {
    return "%s on %s, %d samples%s"
        .formatted(model, cluster, globalBatch, flags.isEmpty() ? "" : ", " + flags);
  }
}
