package dev.pipewright.zoo;

import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.DeviceMemory;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * The devices of the zoo's clusters, with the peaks of NVIDIA's data sheets: 32-bit arithmetic
 * outside the tensor cores, dense 16-bit and TF32 arithmetic on them, and the memory's rate. The
 * forms with NVLink (SXM).
 *
 * <p>A name says gigabytes as the data sheet does. A process gets less:
 *
 * <pre>
 *             reported       context   communication   for tensors
 *   V100-32GB  31.74 GiB     543 MiB      1.6 GB         29.7 GiB
 *   A100-40GB  39.50 GiB     543 MiB      1.6 GB         37.5 GiB
 *   A100-80GB  79.25 GiB     543 MiB      1.6 GB         77.2 GiB
 *   H100-80GB  81,559 MiB  1,093 MiB      1.6 GB         77.1 GiB
 * </pre>
 *
 * <p><b>Reported.</b> V100 and A100: the total capacity in PyTorch's messages (liucongg/
 * ChatGLM-Finetuning issue 73, TianheWu/CoSeR issue 10, wbfwonderful/Vad-R1 issue 11). H100: what
 * nvidia-smi lists (NVIDIA/nccl issue 1264). Of these 79.65 GiB, CUDA gives a process 79.11
 * (vllm-project/vllm issue 27508): the 550 MiB between them count as context.
 *
 * <p><b>Context</b> of a process with PyTorch's kernels, which are loaded when they are first
 * needed: 543 MiB (pytorch/pytorch issue 81257); earlier releases took 1 GB (issue 107667).
 *
 * <p><b>Communication.</b> One communicator of NCCL over a machine takes 1.6 GB (NVIDIA/nccl issue
 * 864); several take less together where they share their channels.
 */
final class Accelerators {
  private static final long MIB = 1L << 20;
  private static final long CONTEXT = 543 * MIB;
  private static final long HELD_BY_DRIVER = 550 * MIB;
  private static final long COMMUNICATION = 1_600_000_000;

  private Accelerators() {}

  /** <i>NVIDIA V100 Tensor Core GPU</i>, 2020: 16-bit is half precision; no TF32, no bfloat16. */
  static DeviceKind v100(DeviceMemory memory, int gigabytes) {
    return new DeviceKind(
        "V100-" + gigabytes + "GB",
        memory,
        new FlopsPerSecond(15.7e12),
        new FlopsPerSecond(125e12),
        Optional.empty(),
        false,
        new BytesPerSecond(900e9));
  }

  static DeviceKind v100With32() {
    return v100(memory(Bytes.gib(31.74), CONTEXT), 32);
  }

  /** <i>NVIDIA A100 Tensor Core GPU</i>, 2020: HBM2. */
  static DeviceKind a100With40() {
    return a100("A100-40GB", Bytes.gib(39.50), 1555e9);
  }

  /** <i>NVIDIA A100 Tensor Core GPU</i>, 2021: HBM2e. */
  static DeviceKind a100With80() {
    return a100("A100-80GB", Bytes.gib(79.25), 2039e9);
  }

  private static DeviceKind a100(String name, Bytes reported, double memoryBandwidth) {
    return new DeviceKind(
        name,
        memory(reported, CONTEXT),
        new FlopsPerSecond(19.5e12),
        new FlopsPerSecond(312e12),
        Optional.of(new FlopsPerSecond(156e12)),
        true,
        new BytesPerSecond(memoryBandwidth));
  }

  /**
   * <i>NVIDIA H100 Tensor Core GPU</i>, 2023: half of the 16-bit and TF32 rates stated with
   * sparsity.
   */
  static DeviceKind h100() {
    return new DeviceKind(
        "H100-80GB",
        memory(new Bytes(81_559 * MIB), CONTEXT + HELD_BY_DRIVER),
        new FlopsPerSecond(67e12),
        new FlopsPerSecond(989.5e12),
        Optional.of(new FlopsPerSecond(494.7e12)),
        true,
        new BytesPerSecond(3350e9));
  }

  private static DeviceMemory memory(Bytes reported, long context) {
    return new DeviceMemory(
        reported, new Bytes(context), new Bytes(COMMUNICATION), OptionalDouble.empty());
  }
}
