package dev.pipewright.formats.cluster;

import dev.pipewright.cluster.AllReduceAlgorithm;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.DeviceMemory;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.cluster.Software;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.formats.file.Nearest;
import dev.pipewright.formats.file.PrecisionWords;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import dev.pipewright.units.Range;
import dev.pipewright.units.Seconds;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** Reads clusters that {@link ClusterYaml} describes. */
final class ClusterYamlReader {
  private static final int MOST_DEVICES = 1_000_000;
  private static final long MOST_BYTES = (long) Range.BYTES.most();

  private static final List<String> KEYS =
      List.of("format", "version", "name", "kinds", "levels", "devices", "software");
  private static final List<String> KIND_KEYS =
      List.of(
          "name",
          "memory_bytes",
          "context_bytes",
          "communication_bytes",
          "memory_reserve",
          "fp32_flops",
          "mixed_flops",
          "tf32_flops",
          "bf16",
          "memory_bytes_per_s");
  private static final List<String> LEVEL_KEYS =
      List.of("name", "point_to_point", "collective", "ports", "achieved", "groups");
  private static final List<String> SOFTWARE_KEYS =
      List.of(
          "waiting_share",
          "all_reduce",
          "fuses_groups",
          "fast_convolutions",
          "overlap",
          "message_overhead",
          "precision");
  private static final Map<String, AllReduceAlgorithm> ALGORITHMS =
      EnumWords.of(AllReduceAlgorithm.values());
  private static final List<String> OVERHEAD_KEYS = List.of("per_message_s", "per_byte_s");
  private static final List<String> LINK_KEYS = List.of("latency_s", "bytes_per_s", "small");
  private static final List<String> PIECE_KEYS = List.of("up_to_bytes", "latency_s", "bytes_per_s");

  private ClusterYamlReader() {}

  /** Throws {@link BadInputException} when the file is not a cluster. */
  static Cluster read(Path file) {
    Fields fields = Tree.yamlOrJson(file).object(KEYS);
    fields.version(ClusterYaml.FORMAT, ClusterYaml.VERSION);
    Map<String, DeviceKind> kinds = kinds(fields.required("kinds"));
    List<DeviceKind> devices = devices(fields.required("devices"), kinds);
    Node levelList = fields.required("levels");
    if (levelList.list().isEmpty()) {
      throw levelList.wrong("levels is empty; a cluster needs at least one level of links");
    }
    List<Level> levels = new ArrayList<>();
    List<List<Integer>> groups = new ArrayList<>();
    for (Node node : levelList.list()) {
      Fields level = node.object(LEVEL_KEYS);
      levels.add(
          new Level(
              level.required("name").text(),
              link(level.required("point_to_point")),
              link(level.required("collective")),
              level.optional("ports").map(ports -> ports.positive(Range.FACTOR)).orElse(1.0),
              level.optional("achieved").map(ClusterYamlReader::share).orElse(1.0)));
      List<Integer> below =
          groups.isEmpty() ? Collections.nCopies(devices.size(), 1) : groups.get(groups.size() - 1);
      groups.add(groups(level.required("groups"), below));
    }
    String name = fields.required("name").text();
    Software software =
        fields.optional("software").map(ClusterYamlReader::software).orElse(Software.IDEAL);
    return levelList.checked(() -> new Cluster(name, devices, levels, groups, software));
  }

  private static Software software(Node node) {
    Fields fields = node.object(SOFTWARE_KEYS);
    return new Software(
        fields.optional("waiting_share").map(n -> n.amount(Range.FACTOR)).orElse(0.0),
        fields
            .optional("all_reduce")
            .map(n -> n.word(ALGORITHMS))
            .orElse(AllReduceAlgorithm.CHEAPEST),
        fields.optional("fuses_groups").map(Node::flag).orElse(true),
        fields.optional("fast_convolutions").map(Node::flag).orElse(true),
        fields.optional("overlap").map(ClusterYamlReader::part).orElse(1.0),
        fields
            .optional("message_overhead")
            .map(ClusterYamlReader::overhead)
            .orElse(MessageOverhead.NONE),
        fields.optional("precision").map(n -> n.word(PrecisionWords.BY_WORD)));
  }

  private static MessageOverhead overhead(Node node) {
    Fields fields = node.object(OVERHEAD_KEYS);
    return new MessageOverhead(
        fields.optional("per_message_s").map(n -> n.amount(Range.SECONDS)).orElse(0.0),
        fields.optional("per_byte_s").map(n -> n.amount(Range.SECONDS_PER_BYTE)).orElse(0.0));
  }

  /** A number from 0 to 1. */
  private static double part(Node node) {
    double part = node.amount(Range.FACTOR);
    if (part > 1) {
      throw node.wrong("%s is more than all of it; write a share from 0 to 1".formatted(part));
    }
    return part;
  }

  /** A number above 0 and up to 1. */
  private static double share(Node node) {
    double share = node.positive(Range.FACTOR);
    if (share > 1) {
      throw node.wrong("%s is more than all of the rate; write a share up to 1".formatted(share));
    }
    return share;
  }

  private static Map<String, DeviceKind> kinds(Node list) {
    Map<String, DeviceKind> kinds = new LinkedHashMap<>();
    for (Node node : list.list()) {
      Fields fields = node.object(KIND_KEYS);
      DeviceKind kind =
          new DeviceKind(
              fields.required("name").text(),
              memory(fields),
              new FlopsPerSecond(fields.required("fp32_flops").positive(Range.FLOP_PER_SECOND)),
              new FlopsPerSecond(fields.required("mixed_flops").positive(Range.FLOP_PER_SECOND)),
              fields
                  .optional("tf32_flops")
                  .map(n -> new FlopsPerSecond(n.positive(Range.FLOP_PER_SECOND))),
              fields.optional("bf16").map(Node::flag).orElse(true),
              new BytesPerSecond(
                  fields.required("memory_bytes_per_s").positive(Range.BYTES_PER_SECOND)));
      if (kinds.putIfAbsent(kind.name(), kind) != null) {
        throw node.wrong(
            "two kinds are called \"" + kind.name() + "\"; give each a name of its own");
      }
    }
    return kinds;
  }

  private static DeviceMemory memory(Fields fields) {
    Node all = fields.required("memory_bytes");
    Optional<Node> reserve = fields.optional("memory_reserve");
    return all.checked(() ->
        new DeviceMemory(
            new Bytes(all.whole(1, MOST_BYTES)),
            new Bytes(fields.optional("context_bytes").map(n -> n.whole(0, MOST_BYTES)).orElse(0L)),
            new Bytes(
                fields.optional("communication_bytes").map(n -> n.whole(0, MOST_BYTES)).orElse(0L)),
            reserve.isPresent()
                ? OptionalDouble.of(reserve.get().shareBelowOne())
                : OptionalDouble.empty()));
  }

  private static List<DeviceKind> devices(Node list, Map<String, DeviceKind> kinds) {
    List<DeviceKind> devices = new ArrayList<>();
    for (Node node : list.list()) {
      Fields fields = node.object(List.of("kind", "count"));
      Node named = fields.required("kind");
      DeviceKind kind = kinds.get(named.text());
      if (kind == null) {
        throw named.wrong(
            "unknown kind \"" + named.text() + "\"; " + Nearest.hint(named.text(), kinds.keySet()));
      }
      int count = fields.optional("count").map(n -> n.count(1)).orElse(1);
      if (count > MOST_DEVICES - devices.size()) {
        throw node.wrong("the cluster has more than 1,000,000 devices; describe a smaller one");
      }
      devices.addAll(Collections.nCopies(count, kind));
    }
    if (devices.isEmpty()) {
      throw list.wrong("devices is empty; a cluster needs at least one device");
    }
    return devices;
  }

  private static Link link(Node node) {
    Fields fields = node.object(LINK_KEYS);
    return new Link(
        new Seconds(fields.required("latency_s").amount(Range.SECONDS)),
        new BytesPerSecond(fields.required("bytes_per_s").positive(Range.BYTES_PER_SECOND)),
        fields.optional("small").map(ClusterYamlReader::pieces).orElse(List.of()));
  }

  private static List<Link.Piece> pieces(Node list) {
    List<Link.Piece> pieces = new ArrayList<>();
    double below = 0;
    for (Node node : list.list()) {
      Fields fields = node.object(PIECE_KEYS);
      Node size = fields.required("up_to_bytes");
      if (size.positive(Range.BYTES) <= below) {
        throw size.wrong(
            "%s is not above the %s before it; list the pieces by size, smallest first"
                .formatted(size.place(), JsonText.flow(below)));
      }
      below = size.positive(Range.BYTES);
      pieces.add(
          new Link.Piece(
              below,
              new Seconds(fields.required("latency_s").amount(Range.SECONDS)),
              new BytesPerSecond(fields.required("bytes_per_s").positive(Range.BYTES_PER_SECOND))));
    }
    return pieces;
  }

  /** Sizes in devices, or how many groups of the level below one group joins. */
  private static List<Integer> groups(Node node, List<Integer> below) {
    if (!node.is(Node.Type.NUMBER)) {
      return node.list().stream().map(size -> size.count(1)).toList();
    }
    int fanout = node.count(1);
    if (below.size() % fanout != 0) {
      throw node.wrong(
          "groups of %d do not divide the %d groups or devices of the level below; list the sizes"
              .formatted(fanout, below.size()));
    }
    return ClusterYaml.joined(below, fanout);
  }
}
