package dev.pipewright.plan;

import dev.pipewright.units.Check;
import java.util.HashSet;
import java.util.List;

/**
 * One stage of a pipeline.
 *
 * @param firstLayer its first position in the model's chain
 * @param lastLayer its last position, inclusive
 * @param devices all devices of the stage over all replicas of the pipeline; each takes an equal
 *     slice of every micro-batch
 * @param inFlight micro-batches whose activations it may hold at once
 */
public record StagePlan(
    int firstLayer, int lastLayer, List<Integer> devices, Recompute recompute, int inFlight) {
  public StagePlan {
    devices = List.copyOf(devices);
    Check.that(
        0 <= firstLayer && firstLayer <= lastLayer,
        "a stage runs from its first layer to its last: layers=[%d, %d]",
        firstLayer,
        lastLayer);
    Check.that(
        !devices.isEmpty(), "a stage needs a device: layers=[%d, %d]", firstLayer, lastLayer);
    Check.that(
        new HashSet<>(devices).size() == devices.size(),
        "a stage names a device twice: devices=%s",
        devices);
    Check.that(inFlight >= 1, "a stage holds at least one micro-batch: in_flight=%d", inFlight);
  }

  /** How many devices share each micro-batch. */
  public int replicas() {
    return devices.size();
  }
}
