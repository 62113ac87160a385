package dev.pipewright.predict.transformer;

import dev.pipewright.units.Check;

/**
 * A kind of GPU in its node and network, with data-sheet values per GPU.
 *
 * @param name as users write it
 * @param chip whose calibrated clock applies
 * @param family whose calibrated efficiencies apply
 * @param memoryBytes of the device
 * @param outsideTensors bytes of it that tensors cannot have: context, buffers of collectives,
 *     fragmentation
 * @param halfFlops dense peak of 16-bit products in FLOP/s
 * @param fp8Flops dense peak of 8-bit products in FLOP/s
 * @param fp4Flops dense peak of 4-bit products in FLOP/s
 * @param memoryBandwidth of the device memory in bytes/s
 * @param multiprocessors streaming multiprocessors, each with a 256 × 128 tile at a time
 * @param nvlinkBandwidth one direction of NVLink (or the like) in bytes/s
 * @param domain GPUs joined by NVLink
 * @param networkBandwidth of a GPU's share of the network between domains in bytes/s, one direction
 * @param hostBandwidth of the link to the host in bytes/s, one direction
 * @param workspaceBytes allocated by libraries in any run: cuBLAS, Transformer Engine, masks
 */
public record GpuMachine(
    String name,
    String chip,
    Family family,
    double memoryBytes,
    double outsideTensors,
    double halfFlops,
    double fp8Flops,
    double fp4Flops,
    double memoryBandwidth,
    int multiprocessors,
    double nvlinkBandwidth,
    int domain,
    double networkBandwidth,
    double hostBandwidth,
    double workspaceBytes) {
  private static final int NODE = 8; // GPUs of a node without a larger NVLink domain

  /** A generation of chips that shares efficiencies, named after its first chip. */
  public enum Family {
    A100,
    H100,
    BLACKWELL
  }

  /** Throws {@link IllegalArgumentException} for amounts that are not positive. */
  public GpuMachine {
    Check.positive(memoryBytes, "memory_bytes");
    Check.amount(outsideTensors, "outside_tensors_bytes");
    Check.positive(halfFlops, "half_flops");
    Check.positive(fp8Flops, "fp8_flops");
    Check.positive(fp4Flops, "fp4_flops");
    Check.positive(memoryBandwidth, "memory_bandwidth");
    Check.positive(nvlinkBandwidth, "nvlink_bandwidth");
    Check.positive(networkBandwidth, "network_bandwidth");
    Check.positive(hostBandwidth, "host_bandwidth");
    Check.amount(workspaceBytes, "workspace_bytes");
    Check.that(multiprocessors >= 1, "multiprocessors must be >= 1: %d", multiprocessors);
    Check.that(domain >= 1, "domain must be >= 1: %d", domain);
  }

  /** The same with another name and network: {@code bytesPerSecond} for each GPU. */
  public GpuMachine withNetwork(String called, double bytesPerSecond) {
    return with(called, memoryBytes, outsideTensors, domain, bytesPerSecond);
  }

  /**
   * The same chip in other nodes.
   *
   * @param memory bytes of the device
   * @param outside bytes of it that tensors cannot have
   * @param joined GPUs joined by NVLink
   * @param network bytes/s of a GPU's share of the network, one direction
   */
  public GpuMachine with(String called, double memory, double outside, int joined, double network) {
    return new GpuMachine(
        called,
        chip,
        family,
        memory,
        outside,
        halfFlops,
        fp8Flops,
        fp4Flops,
        memoryBandwidth,
        multiprocessors,
        nvlinkBandwidth,
        joined,
        network,
        hostBandwidth,
        workspaceBytes);
  }

  /** The same where tensors cannot have so many bytes. */
  public GpuMachine withOutsideTensors(double bytes) {
    return with(name, memoryBytes, bytes, domain, networkBandwidth);
  }

  /** Bytes of the device that tensors can have. */
  public double usableBytes() {
    return memoryBytes - outsideTensors;
  }

  /** Whether a GPU holds so many bytes of tensors. */
  boolean holds(double tensorBytes) {
    return tensorBytes + outsideTensors <= memoryBytes;
  }

  /** Peak of products in FLOP/s. */
  public double flops(NumberFormats.Products products) {
    return switch (products) {
      case HALF -> halfFlops;
      case FP8, MXFP8 -> fp8Flops;
      case NVFP4 -> fp4Flops;
    };
  }

  /** Network bandwidth of a whole NVLink domain in bytes/s, one direction. */
  public double domainNetworkBandwidth() {
    return networkBandwidth * domain;
  }

  /** GPUs of the unit whose number counts for stragglers: a node, or a larger NVLink domain. */
  public int stragglerUnit() {
    return Math.max(NODE, domain);
  }
}
