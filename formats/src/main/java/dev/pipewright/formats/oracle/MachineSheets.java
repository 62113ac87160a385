package dev.pipewright.formats.oracle;

import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.predict.transformer.GpuMachine;
import dev.pipewright.predict.transformer.GpuMachine.Family;
import dev.pipewright.units.Range;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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

  private final Map<String, GpuMachine> machines = new LinkedHashMap<>();

  private MachineSheets() {}

  /** The machines that the program knows. */
  public static MachineSheets read() {
    MachineSheets sheets = new MachineSheets();
    Node root = Tree.resource(MachineSheets.class, "machines.json");
    for (Node each : root.object(List.of("machines")).required("machines").list()) {
      GpuMachine machine = machine(each.object(KEYS));
      sheets.machines.put(machine.name(), machine);
    }
    return sheets;
  }

  private static GpuMachine machine(Fields fields) {
    fields.required("source").text();
    return new GpuMachine(
        fields.required("name").text(),
        fields.required("chip").text(),
        Family.valueOf(fields.required("family").text().toUpperCase(Locale.ROOT)),
        amount(fields, "memory_bytes"),
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
    return List.copyOf(machines.keySet());
  }

  /**
   * The machine of a name.
   *
   * @throws IllegalArgumentException naming those that are near
   */
  public GpuMachine find(String name) {
    Matcher network = NETWORK.matcher(name);
    if (!machines.containsKey(name) && network.matches()) {
      int gpus = Integer.parseInt(network.group(2));
      double bits = Double.parseDouble(network.group(3)) * 1e9;
      if (gpus > 0 && bits > 0) {
        return find(network.group(1), name).withNetwork(name, bits / BITS / gpus);
      }
    }
    boolean rack = !machines.containsKey(name) && name.endsWith(RACK);
    return find(rack ? name.substring(0, name.length() - RACK.length()) : name, name);
  }

  private GpuMachine find(String base, String name) {
    @Nullable GpuMachine machine = machines.get(base);
    if (machine == null) {
      throw new IllegalArgumentException(
          "machine=%s is unknown; %s, perhaps with a network as in h100-80g-8x3200g"
              .formatted(name, Suggestion.of(base, machines.keySet())));
    }
    return machine;
  }
}
