package dev.pipewright.cost;

import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Units;
import java.util.List;

/**
 * A part of a plan that its devices cannot hold.
 *
 * @param stage the stage; the first of a device that holds several
 * @param holder what is too large, like {@code stage 3 needs 20 GiB on device 4}
 * @param capacity what the device has
 * @param detail for what it needs so much, after other words; may be empty
 * @param remedy what would fit
 */
public record Misfit(int stage, String holder, Bytes capacity, String detail, String remedy) {
  /** A stage of a plan of synchronous training. */
  public static Misfit of(PipelinePlan plan, int stage, PeakMemory memory) {
    return new Misfit(
        stage,
        holder(stage, memory.peakBytes(), plan.stages().get(stage).devices()),
        memory.capacity(),
        "",
        "recompute, or take more stages, more tensor parallelism or smaller micro-batches");
  }

  /** A stage that keeps several versions of its weights. */
  public static Misfit of(AsynchronousPlan plan, int stage, StageCost.StageMemory memory) {
    return new Misfit(
        stage,
        holder(stage, memory.peakBytes(), plan.stages().get(stage).devices()),
        memory.capacity(),
        ", for %d versions of its weights and %d micro-batches in flight"
            .formatted(plan.versions(stage), memory.inFlight()),
        "take fewer layers in it, smaller micro-batches, or "
            + AsynchronousPlan.Rule.TWO_BUFFERS.schedule());
  }

  /** A stage with measured peaks. */
  public static Misfit measured(int stage, double bytes, int device, Bytes capacity) {
    return new Misfit(
        stage,
        holder(stage, bytes, List.of(device)),
        capacity,
        "",
        "take fewer layers in it, or more devices");
  }

  /** A device that holds stages of a pattern, of which {@code stage} is the first. */
  public static Misfit ofDevice(int device, int stage, double bytes, Bytes capacity) {
    return new Misfit(
        stage,
        "device %d needs %s".formatted(device, Units.binary(bytes, "B")),
        capacity,
        "",
        "take fewer layers on it, a longer period or smaller mini-batches");
  }

  private static String holder(int stage, double bytes, List<Integer> devices) {
    return "stage %d needs %s on %s".formatted(stage, Units.binary(bytes, "B"), devices(devices));
  }

  /** {@code device 3}, {@code each of devices 0, 1 … 7}. */
  private static String devices(List<Integer> devices) {
    if (devices.size() == 1) {
      return "device " + devices.get(0);
    }
    int first = devices.get(0);
    int last = devices.get(devices.size() - 1);
    return devices.size() == 2
        ? "each of devices %d and %d".formatted(first, last)
        : "each of devices %d … %d".formatted(first, last);
  }

  /** The same, with when in the step that is. */
  public Misfit when(String words) {
    return new Misfit(stage, holder, capacity, detail + words, remedy);
  }

  /** What is needed, what there is, and what would help. */
  @Override
  public String toString() {
    return "%s of %s%s; %s".formatted(holder, capacity, detail, remedy);
  }
}
