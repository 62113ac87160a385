package dev.pipewright.cluster;

import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import dev.pipewright.units.Precision;
import java.util.Optional;

/**
 * A model of accelerator.
 *
 * @param deviceMemory its memory and what of it is not for tensors
 * @param fp32 peak rate in 32-bit arithmetic
 * @param mixed peak rate in 16-bit arithmetic with 32-bit accumulation
 * @param tf32 peak rate of tensor cores on 32-bit operands, where they take these
 * @param bfloat16 whether the 16-bit formats include bfloat16
 * @param memoryBandwidth peak rate of the device's memory
 */
public record DeviceKind(
    String name,
    DeviceMemory deviceMemory,
    FlopsPerSecond fp32,
    FlopsPerSecond mixed,
    Optional<FlopsPerSecond> tf32,
    boolean bfloat16,
    BytesPerSecond memoryBandwidth) {

  /** A kind whose memory is all for tensors, with both 16-bit formats and no TF32. */
  public DeviceKind(
      String name,
      Bytes memory,
      FlopsPerSecond fp32,
      FlopsPerSecond mixed,
      BytesPerSecond memoryBandwidth) {
    this(name, DeviceMemory.of(memory), fp32, mixed, Optional.empty(), true, memoryBandwidth);
  }

  /** What a plan may fill of the device's memory. */
  public Bytes memory() {
    return deviceMemory.plannable();
  }

  /** The same kind with other memory. */
  public DeviceKind with(DeviceMemory other) {
    return new DeviceKind(name, other, fp32, mixed, tf32, bfloat16, memoryBandwidth);
  }

  /** The same kind with another amount of memory, which plans may fill. */
  public DeviceKind withMemory(Bytes other) {
    return with(DeviceMemory.whole(other));
  }

  /** Whether 16-bit arithmetic is faster than that in 32 bits. */
  public boolean hasTensorCores() {
    return mixed.value() > fp32.value();
  }

  /** Whether the device has arithmetic in this format. */
  public boolean computes(Precision precision) {
    return switch (precision) {
      case FP32, FP16 -> true;
      case TF32 -> tf32.isPresent();
      case BF16 -> bfloat16;
    };
  }

  /** The peak rate; for a format that the device lacks, that of the nearest. */
  public FlopsPerSecond peak(Precision precision) {
    return switch (precision) {
      case FP32 -> fp32;
      case TF32 -> tf32.orElse(fp32);
      case FP16, BF16 -> mixed;
    };
  }
}
