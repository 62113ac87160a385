package dev.pipewright.zoo;

import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;

/**
 * The devices of the zoo's clusters, with the peaks of NVIDIA's data sheets: 32-bit arithmetic
 * outside the tensor cores, dense 16-bit arithmetic on them, and the memory's rate. The forms with
 * NVLink (SXM).
 */
final class Accelerators {
  private Accelerators() {}

  /** <i>NVIDIA V100 Tensor Core GPU</i>, 2020: 16-bit is half precision (no bfloat16). */
  static DeviceKind v100(int gib) {
    return kind("V100", gib, 15.7e12, 125e12, 900e9);
  }

  /** <i>NVIDIA A100 Tensor Core GPU</i>, 2020: HBM2. */
  static DeviceKind a100With40() {
    return kind("A100", 40, 19.5e12, 312e12, 1555e9);
  }

  /** <i>NVIDIA A100 Tensor Core GPU</i>, 2021: HBM2e. */
  static DeviceKind a100With80() {
    return kind("A100", 80, 19.5e12, 312e12, 2039e9);
  }

  /** <i>NVIDIA H100 Tensor Core GPU</i>, 2023: half of the 16-bit rate stated with sparsity. */
  static DeviceKind h100() {
    return kind("H100", 80, 67e12, 989.5e12, 3350e9);
  }

  private static DeviceKind kind(
      String name, int gib, double fp32, double mixed, double memoryBandwidth) {
    return new DeviceKind(
        name + "-" + gib + "GB",
        Bytes.gib(gib),
        new FlopsPerSecond(fp32),
        new FlopsPerSecond(mixed),
        new BytesPerSecond(memoryBandwidth));
  }
}
