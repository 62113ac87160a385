package dev.pipewright.formats.problem;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.GivenMemory;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A model priced on a cluster.
 *
 * @param model as the user named it
 * @param cluster as the user named it
 * @param memory of every device: bytes where the user said so, and what plans leave free
 * @param usualSlice samples that the model's source gives a device
 * @param samplesPerEpoch of the data set, where the file says
 * @param sequence tokens of a sample, where the user chose them
 */
public record Costed(
    String model,
    String cluster,
    StageCosts costs,
    GivenMemory memory,
    int usualSlice,
    OptionalLong samplesPerEpoch,
    OptionalInt sequence) {
  public Workload workload() {
    return costs.workload();
  }
}
