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
import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.formats.json.JsonText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Clusters as YAML, or as JSON, which is YAML too. What is written is read back equal, to the last
 * bit. Bytes, seconds, bytes per second and FLOP per second are plain numbers; the keys say which.
 * {@code docs/formats.md} lists them.
 */
public final class ClusterYaml {
  static final String FORMAT = "pipewright-cluster";
  static final int VERSION = 1;

  private ClusterYaml() {}

  /** Throws {@link BadInputException} when the file is not a cluster. */
  public static Cluster read(Path file) {
    return ClusterYamlReader.read(file);
  }

  /** Sizes of groups that each join so many of the level below. */
  static List<Integer> joined(List<Integer> below, int fanout) {
    List<Integer> sizes = new ArrayList<>();
    for (int first = 0; first < below.size(); first += fanout) {
      sizes.add(below.subList(first, first + fanout).stream().mapToInt(Integer::intValue).sum());
    }
    return sizes;
  }

  /** The text of a file that {@link #read} reads back equal; throws when two kinds share a name. */
  public static String text(Cluster cluster) {
    StringBuilder out = new StringBuilder();
    out.append("format: ").append(FORMAT).append('\n');
    out.append("version: ").append(VERSION).append('\n');
    out.append("name: ").append(JsonText.quoted(cluster.name())).append('\n');
    out.append("kinds:\n");
    distinctKinds(cluster).forEach(kind -> item(out, object(kind)));
    out.append(
        "# Innermost first. Groups: how many of the level below one group joins, or sizes.\n");
    out.append("levels:\n");
    List<Integer> below = Collections.nCopies(cluster.size(), 1);
    for (int i = 0; i < cluster.levels().size(); i++) {
      level(out, cluster.levels().get(i), cluster.groups().get(i), below);
      below = cluster.groups().get(i);
    }
    out.append("devices:\n");
    runs(cluster.devices()).forEach(run -> item(out, run));
    if (!cluster.software().equals(Software.IDEAL)) {
      out.append("software: ").append(JsonText.flow(object(cluster.software()))).append('\n');
    }
    return out.toString();
  }

  /** Replaces {@code file}. */
  public static void write(Path file, Cluster cluster) {
    OutputFile.write(file, text(cluster));
  }

  private static void item(StringBuilder out, Object value) {
    out.append("  - ").append(JsonText.flow(value)).append('\n');
  }

  private static List<DeviceKind> distinctKinds(Cluster cluster) {
    Map<String, DeviceKind> kinds = new LinkedHashMap<>();
    for (DeviceKind kind : cluster.devices()) {
      DeviceKind other = kinds.putIfAbsent(kind.name(), kind);
      if (other != null && !other.equals(kind)) {
        throw new IllegalArgumentException("two kinds share a name: kind=" + kind.name());
      }
    }
    return List.copyOf(kinds.values());
  }

  private static Map<String, Object> object(DeviceKind kind) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("name", kind.name());
    DeviceMemory memory = kind.deviceMemory();
    object.put("memory_bytes", memory.reported().value());
    if (memory.context().value() > 0) {
      object.put("context_bytes", memory.context().value());
    }
    if (memory.communication().value() > 0) {
      object.put("communication_bytes", memory.communication().value());
    }
    memory.reserve().ifPresent(share -> object.put("memory_reserve", share));
    object.put("fp32_flops", kind.fp32().value());
    object.put("mixed_flops", kind.mixed().value());
    kind.tf32().ifPresent(peak -> object.put("tf32_flops", peak.value()));
    if (!kind.bfloat16()) {
      object.put("bf16", false);
    }
    object.put("memory_bytes_per_s", kind.memoryBandwidth().value());
    return object;
  }

  private static Map<String, Object> object(Software software) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("waiting_share", software.waitingShare());
    if (software.allReduce() != AllReduceAlgorithm.CHEAPEST) {
      object.put("all_reduce", EnumWords.word(software.allReduce()));
    }
    object.put("fuses_groups", software.fusesGroups());
    object.put("fast_convolutions", software.fastConvolutions());
    if (software.overlap() != 1) {
      object.put("overlap", software.overlap());
    }
    if (!software.message().equals(MessageOverhead.NONE)) {
      Map<String, Object> overhead = new LinkedHashMap<>();
      overhead.put("per_message_s", software.message().seconds());
      overhead.put("per_byte_s", software.message().secondsPerByte());
      object.put("message_overhead", overhead);
    }
    software.precision().ifPresent(format -> object.put("precision", format.word()));
    return object;
  }

  private static Map<String, Object> object(Link link) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("latency_s", link.latency().value());
    object.put("bytes_per_s", link.bandwidth().value());
    if (!link.small().isEmpty()) {
      object.put("small", link.small().stream().map(ClusterYaml::object).toList());
    }
    return object;
  }

  private static Map<String, Object> object(Link.Piece piece) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("up_to_bytes", piece.upToBytes());
    object.put("latency_s", piece.latency().value());
    object.put("bytes_per_s", piece.bandwidth().value());
    return object;
  }

  private static void level(
      StringBuilder out, Level level, List<Integer> groups, List<Integer> below) {
    int fanout = below.size() / groups.size();
    boolean even = below.size() % groups.size() == 0 && joined(below, fanout).equals(groups);
    out.append("  - name: ").append(JsonText.quoted(level.name())).append('\n');
    out.append("    point_to_point: ").append(JsonText.flow(object(level.pointToPoint())));
    out.append("\n    collective: ").append(JsonText.flow(object(level.collective())));
    if (level.ports() != 1) {
      out.append("\n    ports: ").append(JsonText.flow(level.ports()));
    }
    if (level.achieved() != 1) {
      out.append("\n    achieved: ").append(JsonText.flow(level.achieved()));
    }
    out.append("\n    groups: ").append(JsonText.flow(even ? fanout : groups)).append('\n');
  }

  /** Equal devices in a row become one entry. */
  private static List<Map<String, Object>> runs(List<DeviceKind> devices) {
    List<Map<String, Object>> runs = new ArrayList<>();
    for (int first = 0, next; first < devices.size(); first = next) {
      next = first + 1;
      while (next < devices.size() && devices.get(next).equals(devices.get(first))) {
        next++;
      }
      Map<String, Object> run = new LinkedHashMap<>();
      run.put("kind", devices.get(first).name());
      run.put("count", next - first);
      runs.add(run);
    }
    return runs;
  }
}
