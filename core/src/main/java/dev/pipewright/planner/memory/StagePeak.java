package dev.pipewright.planner.memory;

/** Predicts the most that a device holds which runs one stage of a pipeline. */
@FunctionalInterface
public interface StagePeak {
  /**
   * Bytes; positive infinity where these layers cannot be a stage.
   *
   * @param stage its place in the pipeline, from 0: with 1F1B a later stage holds fewer activations
   * @param first its first layer
   * @param end the layer after its last; greater than {@code first}
   */
  double bytes(int stage, int first, int end);

  /** The bytes of each stage of a partition, given by how many layers each has. */
  default double[] bytes(int[] sizes) {
    double[] bytes = new double[sizes.length];
    int first = 0;
    for (int stage = 0; stage < sizes.length; stage++) {
      bytes[stage] = bytes(stage, first, first + sizes[stage]);
      first += sizes[stage];
    }
    return bytes;
  }
}
