package dev.pipewright.cluster;

import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import dev.pipewright.units.Precision;

/**
 * A model of accelerator.
 *
 * @param memory what a training process can use of the device's memory
 * @param fp32 peak rate in 32-bit arithmetic
 * @param mixed peak rate in 16-bit arithmetic with 32-bit accumulation
 * @param memoryBandwidth peak rate of the device's memory
 */
public record DeviceKind(
    String name,
    Bytes memory,
    FlopsPerSecond fp32,
    FlopsPerSecond mixed,
    BytesPerSecond memoryBandwidth) {

  /** The same kind with another amount of memory. */
  public DeviceKind withMemory(Bytes other) {
    return new DeviceKind(name, other, fp32, mixed, memoryBandwidth);
  }

  public FlopsPerSecond peak(Precision precision) {
    return switch (precision) {
      case FP32 -> fp32;
      case MIXED -> mixed;
    };
  }
}
