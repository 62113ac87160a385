package dev.pipewright.formats.machine;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.DeviceMemory;
import dev.pipewright.cluster.Level;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.predict.transformer.Framework;
import dev.pipewright.predict.transformer.GpuMachine;
import dev.pipewright.predict.transformer.GpuMachine.Family;
import dev.pipewright.units.Range;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Machines by name, from {@code machines.json}: data-sheet values with their sources. A name such
 * as {@code h100-80g-8x3200g} has the network in it: 8 GPUs of a node share 3,200 Gbit/s. {@code
 * -nvl72} stands for a rack.
 */
public final class MachineSheets {
  private static final Pattern NETWORK = Pattern.compile("(.+)-(\\d{1,3})x(\\d{1,6})g");
  private static final String RACK = "-nvl72";
  private static final double BITS = 8;
  private static final List<String> KEYS =
      List.of(
          "name",
          "chip",
          "family",
          "memory_bytes",
          "fp32_flops",
          "tf32_flops",
          "bfloat16",
          "half_flops",
          "fp8_flops",
          "fp4_flops",
          "memory_bytes_per_s",
          "multiprocessors",
          "nvlink_bytes_per_s",
          "domain",
          "network_bytes_per_s",
          "host_bytes_per_s",
          "workspace_bytes",
          "source",
          "read");

  /** Context, buffers of collectives and fragmentation where nothing is measured. */
  private static final double OUTSIDE_TENSORS = 1.2e9;

  static final double ACHIEVED = 0.96; // of a network card's rate, by clusters' links

  /** A machine, and its arithmetic in formats that transformers are not trained in. */
  record Sheet(GpuMachine machine, double fp32Flops, double tf32Flops, boolean bfloat16) {}

  /** Nodes of a cloud: a machine with a network of so many Gbit/s for each node. */
  record Shape(String machine, double gigabits) {}

  private final Map<String, Sheet> sheets = new LinkedHashMap<>();
  private final Map<String, Shape> shapes = new LinkedHashMap<>();
  private final Map<String, String> aliases = new LinkedHashMap<>();
  private final Map<String, Framework> software = new LinkedHashMap<>(); // by cluster

  private MachineSheets() {}

  /** The machines that the program knows. */
  public static MachineSheets read() {
    MachineSheets sheets = new MachineSheets();
    Node root = Tree.resource(MachineSheets.class, "machines.json");
    Fields fields = root.object(List.of("machines", "shapes", "clusters", "aliases"));
    for (Node each : fields.required("machines").list()) {
      Sheet sheet = sheet(each.object(KEYS));
      sheets.sheets.put(sheet.machine().name(), sheet);
    }
    for (Node each : fields.required("shapes").list()) {
      Fields shape = each.object(List.of("name", "machine", "node_gbit_per_s", "source"));
      shape.required("source").text();
      sheets.shapes.put(
          shape.required("name").text(),
          new Shape(shape.required("machine").text(), amount(shape, "node_gbit_per_s")));
    }
    fields
        .required("aliases")
        .members()
        .forEach((alias, name) -> sheets.aliases.put(alias, name.text()));
    for (Node each : fields.required("clusters").list()) {
      Fields cluster = each.object(List.of("name", "framework", "source"));
      cluster.required("source").text();
      String word = cluster.required("framework").text();
      sheets.software.put(cluster.required("name").text(), Framework.find(word).orElseThrow());
    }
    return sheets;
  }

  private static Sheet sheet(Fields fields) {
    fields.required("source").text();
    return new Sheet(
        machine(fields),
        amount(fields, "fp32_flops"),
        amount(fields, "tf32_flops"),
        fields.required("bfloat16").flag());
  }

  private static GpuMachine machine(Fields fields) {
    return new GpuMachine(
        fields.required("name").text(),
        fields.required("chip").text(),
        Family.valueOf(fields.required("family").text().toUpperCase(Locale.ROOT)),
        amount(fields, "memory_bytes"),
        OUTSIDE_TENSORS,
        amount(fields, "half_flops"),
        amount(fields, "fp8_flops"),
        amount(fields, "fp4_flops"),
        amount(fields, "memory_bytes_per_s"),
        fields.required("multiprocessors").count(1),
        amount(fields, "nvlink_bytes_per_s"),
        fields.required("domain").count(1),
        amount(fields, "network_bytes_per_s"),
        amount(fields, "host_bytes_per_s"),
        amount(fields, "workspace_bytes"));
  }

  private static double amount(Fields fields, String key) {
    return fields.required(key).amount(Range.FLOP_PER_SECOND);
  }

  /** Names without a network. */
  public List<String> names() {
    return List.copyOf(sheets.keySet());
  }

  /**
   * The machine of a name.
   *
   * @throws IllegalArgumentException naming those that are near
   */
  public GpuMachine find(String written) {
    String name = sheets.containsKey(written) ? written : meant(written);
    Matcher network = NETWORK.matcher(name);
    if (!sheets.containsKey(name) && network.matches()) {
      int gpus = Integer.parseInt(network.group(2));
      double bits = Double.parseDouble(network.group(3)) * 1e9;
      if (gpus > 0 && bits > 0) {
        return find(network.group(1), name).withNetwork(name, bits / BITS / gpus);
      }
    }
    boolean rack = !sheets.containsKey(name) && name.endsWith(RACK);
    return find(rack ? name.substring(0, name.length() - RACK.length()) : name, name);
  }

  private GpuMachine find(String base, String name) {
    @Nullable Sheet sheet = sheets.get(base);
    if (sheet == null) {
      throw new IllegalArgumentException(
          "machine=%s is unknown; %s, perhaps with a network as in h100-80g-8x3200g"
              .formatted(name, Suggestion.of(base, sheets.keySet())));
    }
    return sheet.machine();
  }

  /**
   * The machine that a cluster is made of: the sheet of its devices' kind, with the cluster's
   * memory, nodes and network. Empty where devices differ or their kind has no sheet.
   */
  public Optional<GpuMachine> of(Cluster cluster) {
    DeviceKind kind = cluster.device(0);
    @Nullable Sheet found = sheets.get(sheetName(kind));
    if (found == null || !cluster.homogeneous()) {
      return Optional.empty();
    }
    int domain = cluster.groups().get(0).get(0);
    DeviceMemory memory = kind.deviceMemory();
    double reported = memory.reported().value();
    double outside = reported - memory.process().value();
    GpuMachine sheet = found.machine();
    return Optional.of(
        sheet.with(cluster.name(), reported, outside, domain, network(cluster, sheet)));
  }

  /** {@code A100-80GB} of {@code a100-80g}: as clusters call the device. */
  static String kindName(GpuMachine machine) {
    return machine.name().toUpperCase(Locale.ROOT).replaceFirst("(\\d)G$", "$1GB");
  }

  /** {@code a100-80g} of {@code A100-80GB}. */
  private static String sheetName(DeviceKind kind) {
    return kind.name().toLowerCase(Locale.ROOT).replaceFirst("gb$", "g");
  }

  /** Line rate of a GPU's share of the network; the sheet's where a cluster is one node. */
  private static double network(Cluster cluster, GpuMachine sheet) {
    if (cluster.machines() == 1) {
      return sheet.networkBandwidth();
    }
    Level outer = cluster.levels().get(1);
    double node = outer.collective().bandwidth().value() * outer.ports() / ACHIEVED;
    return node / cluster.groups().get(0).get(0);
  }

  /** The framework of a cluster's published runs; elsewhere the newest that is calibrated. */
  public Framework usualFramework(Cluster cluster) {
    String base = cluster.name().split(":", 2)[0];
    return software.getOrDefault(base, Framework.MEGATRON_BRIDGE);
  }

  /** The sheet of a machine's name; empty where none is called so. */
  Optional<Sheet> sheet(String name) {
    return Optional.ofNullable(sheets.get(name));
  }

  /** The cloud's nodes of a name; empty where none are called so. */
  Optional<Shape> shape(String name) {
    return Optional.ofNullable(shapes.get(name));
  }

  /** What a short name stands for; the name itself where it is none. */
  String meant(String name) {
    return aliases.getOrDefault(name, name);
  }

  /** Names of clouds' nodes. */
  List<String> shapeNames() {
    return List.copyOf(shapes.keySet());
  }

  /** Short names. */
  List<String> aliases() {
    return List.copyOf(aliases.keySet());
  }
}
