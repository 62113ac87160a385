package dev.pipewright.zoo;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.DeviceMemory;
import dev.pipewright.units.Bytes;
import java.util.List;
import java.util.Optional;

/**
 * Clusters by name.
 *
 * <ul>
 *   <li>{@code dapple-a}, {@code dapple-b}, {@code dapple-c}: the clusters of DAPPLE's experiments
 *       ({@link DappleClusters}).
 *   <li>{@code abci}: the machine of ParaDL's experiments, 1,088 nodes of four V100 ({@link Abci}).
 *   <li>{@code dgx-v100}, {@code selene}, {@code dgx-h100}, and clouds such as {@code
 *       a100-80g-8x800g}, nodes of eight A100 with 80 GB and 800 Gbit/s for each node ({@link
 *       NvidiaClusters}).
 * </ul>
 *
 * <p>A colon and a size give another number of nodes × devices per node: {@code dapple-a:4x8},
 * {@code dapple-b:8}, {@code abci:64x4}.
 */
public final class Clusters {
  private Clusters() {}

  public static List<String> names() {
    return List.of(
        "dapple-a",
        "dapple-b",
        "dapple-c",
        "abci",
        "dgx-v100",
        "selene",
        "dgx-h100",
        "a100-40g-8x1600g",
        "a100-80g-8x800g",
        "a100-80g-8x1600g",
        "h100-80g-8x3200g");
  }

  /**
   * A device of DAPPLE's and ParaDL's experiments: peaks as in NVIDIA's data sheet. Both papers
   * count its 16 GiB whole, so plans may fill all of them.
   */
  public static DeviceKind v100() {
    return Accelerators.v100(DeviceMemory.whole(Bytes.gib(16)), 16);
  }

  /**
   * The cluster called {@code name}, or empty where no such name is known.
   *
   * @throws IllegalArgumentException when the name is known but the size behind it makes no sense
   */
  public static Optional<Cluster> find(String name) {
    int colon = name.indexOf(':');
    String base = colon < 0 ? name : name.substring(0, colon);
    if (!names().contains(base)) {
      return Optional.empty();
    }
    String size = colon < 0 ? size(base) : name.substring(colon + 1);
    return Optional.of(cluster(name, base, size));
  }

  /** The size of a cluster whose name says none. */
  private static String size(String base) {
    return switch (base) {
      case "dapple-a" -> "2x8";
      case "dapple-b", "dapple-c" -> "16";
      case "abci" -> "1088x4";
      case "selene" -> "512x8";
      case "dgx-v100", "dgx-h100" -> "32x8";
      default -> "64x8";
    };
  }

  private static Cluster cluster(String name, String base, String size) {
    return switch (base) {
      case "dapple-a" -> DappleClusters.nodes(name, size);
      case "dapple-b" -> DappleClusters.singles(name, size, 1);
      case "dapple-c" -> DappleClusters.singles(name, size, 0.4);
      case "abci" -> Abci.of(name, size);
      case "dgx-v100" -> NvidiaClusters.dgxV100(name, size);
      case "selene" -> NvidiaClusters.a100With80(name, size, 1600);
      case "dgx-h100", "h100-80g-8x3200g" -> NvidiaClusters.h100(name, size, 3200);
      case "a100-40g-8x1600g" -> NvidiaClusters.a100With40(name, size, 1600);
      case "a100-80g-8x800g" -> NvidiaClusters.a100With80(name, size, 800);
      case "a100-80g-8x1600g" -> NvidiaClusters.a100With80(name, size, 1600);
      default -> throw new IllegalStateException(name);
    };
  }
}
