package dev.pipewright.formats.cluster;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.DeviceMemory;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import dev.pipewright.units.Range;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A system of Calculon (M. Isaev et al., SC 2023): its peaks, memory, and two networks with the
 * share of their bandwidth that they reach. A cluster of 512 devices, or of as many as the networks
 * join where these are fewer.
 */
final class CalculonSystem {
  private static final int DEVICES = 512;
  private static final double GIB = 1L << 30;

  private CalculonSystem() {}

  static boolean begins(String start) {
    return start.startsWith("{") && start.contains("\"matrix\"") && start.contains("\"mem1\"");
  }

  static Cluster read(Path file) {
    Fields system = Tree.json(file).object();
    Node networks = system.required("networks");
    List<Node> levels = networks.list();
    if (levels.size() != 2) {
      throw networks.wrong(
          "%d networks; expected two, the one of a node first".formatted(levels.size()));
    }
    Fields inner = levels.get(0).object();
    Fields outer = levels.get(1).object();
    int node = inner.required("size").count(1);
    int most = outer.required("size").count(1);
    int nodes = Math.max(1, Math.min(DEVICES, most) / node);
    String name = String.valueOf(file.getFileName()).replaceFirst("\\.json$", "");
    Level port = level("cluster", outer, node);
    return Cluster.uniform(
        name, kind(name, system), List.of(level("node", inner, 1), port), node, nodes);
  }

  private static Level level(String name, Fields network, int ports) {
    double rate =
        network.required("bandwidth").positive(Range.FACTOR)
            * 1e9
            * network.required("efficiency").positive(Range.FACTOR);
    Link link = Link.of(network.required("latency").amount(Range.SECONDS), rate);
    return new Level(name, link, link, ports);
  }

  private static DeviceKind kind(String name, Fields system) {
    Fields memory = system.required("mem1").object();
    double bytes = memory.required("GiB").positive(Range.FACTOR) * GIB;
    return new DeviceKind(
        name,
        DeviceMemory.of(new Bytes(Math.round(bytes))),
        new FlopsPerSecond(tera(system.required("vector"))),
        new FlopsPerSecond(tera(system.required("matrix"))),
        Optional.empty(),
        true,
        new BytesPerSecond(1e9 * memory.required("GBps").positive(Range.FACTOR)));
  }

  /** The peak in 16 bits. */
  private static double tera(Node unit) {
    Fields formats = unit.object();
    Fields half = formats.required("float16").object();
    return 1e12 * half.required("tflops").positive(Range.FACTOR);
  }
}
