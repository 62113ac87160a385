package dev.pipewright.cluster;

import dev.pipewright.units.Bytes;
import dev.pipewright.units.Check;
import java.util.OptionalDouble;

/**
 * The memory of an accelerator, from what its driver reports to what a plan may fill.
 *
 * @param reported all that the driver lets a process allocate
 * @param context what the runtime's context takes before the first tensor
 * @param communication buffers of the communication library
 * @param reserve share of the rest that plans leave free, for fragments of the allocator and for
 *     what no model counts; empty where nothing is stated
 */
public record DeviceMemory(
    Bytes reported, Bytes context, Bytes communication, OptionalDouble reserve) {
  /**
   * Share that plans usually leave free: allocators round blocks up and leave gaps, and of
   * published runs above 92 % of a device's memory one in ten was 10 to 50 % slower.
   */
  public static final double USUAL_RESERVE = 0.06;

  public DeviceMemory {
    long taken = Math.addExact(context.value(), communication.value());
    Check.that(
        taken < reported.value(),
        "context and communication buffers take up all memory: reported=%d, context=%d,"
            + " communication=%d",
        reported.value(),
        context.value(),
        communication.value());
    reserve.ifPresent(share ->
        Check.that(share >= 0 && share < 1, "the reserve is a share below 1: reserve=%s", share));
  }

  /** Memory of which nothing is known to be taken. */
  public static DeviceMemory of(Bytes reported) {
    return new DeviceMemory(reported, new Bytes(0), new Bytes(0), OptionalDouble.empty());
  }

  /** Memory that plans may fill to the last byte. */
  public static DeviceMemory whole(Bytes all) {
    return new DeviceMemory(all, new Bytes(0), new Bytes(0), OptionalDouble.of(0));
  }

  public DeviceMemory withReserve(double share) {
    return new DeviceMemory(reported, context, communication, OptionalDouble.of(share));
  }

  /** What tensors of a process can use. */
  public Bytes process() {
    return new Bytes(reported.value() - context.value() - communication.value());
  }

  /** What plans may fill: {@link #process} without the reserve. */
  public Bytes plannable() {
    double kept = reserve.orElse(0);
    return kept == 0 ? process() : new Bytes((long) (process().value() * (1 - kept)));
  }
}
