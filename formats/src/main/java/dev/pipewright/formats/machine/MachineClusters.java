package dev.pipewright.formats.machine;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.DeviceMemory;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.formats.machine.MachineSheets.Shape;
import dev.pipewright.formats.machine.MachineSheets.Sheet;
import dev.pipewright.predict.transformer.GpuMachine;
import dev.pipewright.predict.transformer.NumberFormats.Products;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import dev.pipewright.zoo.ClusterSize;
import dev.pipewright.zoo.Clusters;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Clusters named after their machines: {@code b200:4x8}, {@code h200-8x1600g}, {@code 8xH100},
 * {@code gb200-nvl72}, {@code p5.48xlarge:64}. A size is nodes × devices, or a number of devices in
 * whole nodes. Kinds that {@link Clusters} has are built there.
 */
public final class MachineClusters {
  /** {@code 8xH100}. */
  private static final Pattern COUNTED = Pattern.compile("([1-9]\\d{0,5})\\s*[x×*]?\\s*([a-z].*)");

  private static final Pattern NETWORK = Pattern.compile("(.+)-(\\d{1,3})x(\\d{1,6})g");
  private static final String RACK = "-nvl72";
  private static final int USUAL_DEVICES = 512;

  /** Of NVLink's rate one way: what a ring achieves (H100: 370 of 450 GB/s, see the zoo). */
  private static final double RING = 0.82;

  private static final long CONTEXT = 550L << 20; // as measured on A100
  private static final long COMMUNICATION = 1_600_000_000;

  private MachineClusters() {}

  /** Names that stand for machines, beyond those of {@link Clusters}. */
  public static List<String> names() {
    MachineSheets sheets = MachineSheets.read();
    List<String> names = new ArrayList<>(sheets.names());
    names.addAll(sheets.shapeNames());
    return names;
  }

  /** The name of a sheet that a machine's short name means; itself where there is none. */
  public static String sheetName(String machine) {
    MachineSheets sheets = MachineSheets.read();
    String meant = sheets.meant(machine);
    Matcher network = NETWORK.matcher(meant);
    return network.matches() ? network.group(1) : meant;
  }

  /** Short names of machines and clusters. */
  public static List<String> aliases() {
    return MachineSheets.read().aliases();
  }

  /**
   * The cluster of a name; empty where no machine is called so.
   *
   * @throws IllegalArgumentException where the machine is known and its size makes no sense
   */
  public static Optional<Cluster> find(String name) {
    String lower = name.toLowerCase(Locale.ROOT).strip();
    MachineSheets sheets = MachineSheets.read();
    int colon = lower.indexOf(':');
    String base = colon < 0 ? lower : lower.substring(0, colon);
    String size = colon < 0 ? "" : lower.substring(colon + 1);
    Matcher counted = COUNTED.matcher(base);
    if (colon < 0 && !isKnown(sheets, base) && counted.matches()) {
      base = counted.group(2);
      size = counted.group(1);
    }
    String meant = sheets.meant(base);
    if (Clusters.names().contains(meant)) {
      return Clusters.find(size.isEmpty() ? meant : meant + ":" + size);
    }
    return built(sheets, name, meant, size);
  }

  private static boolean isKnown(MachineSheets sheets, String base) {
    return sheets.sheet(sheets.meant(base)).isPresent() || sheets.shape(base).isPresent();
  }

  private static Optional<Cluster> built(
      MachineSheets sheets, String name, String meant, String size) {
    Optional<Shape> shape = sheets.shape(meant);
    Matcher network = NETWORK.matcher(meant);
    String machine = meant;
    double gigabits = 0;
    int cards = 0;
    if (shape.isPresent()) {
      machine = shape.get().machine();
      gigabits = shape.get().gigabits();
    } else if (network.matches()) {
      machine = network.group(1);
      cards = Integer.parseInt(network.group(2));
      gigabits = Double.parseDouble(network.group(3));
    } else if (meant.endsWith(RACK)) {
      machine = meant.substring(0, meant.length() - RACK.length());
    }
    Optional<Sheet> found = sheets.sheet(machine);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    int node = cards > 0 ? cards : found.get().machine().domain();
    double card =
        gigabits > 0 ? gigabits * 1e9 / 8 / node : found.get().machine().networkBandwidth();
    String devices = size.isEmpty() ? Integer.toString(USUAL_DEVICES / node * node) : size;
    return Optional.of(
        cluster(sheets, name, found.get(), card, ClusterSize.of(name, devices, node)));
  }

  private static Cluster cluster(
      MachineSheets sheets, String name, Sheet sheet, double card, ClusterSize size) {
    GpuMachine machine = sheet.machine();
    String usual = sheets.meant(machine.name());
    Optional<Cluster> known =
        Clusters.names().contains(usual) ? Clusters.find(usual) : Optional.empty();
    double ring = RING * machine.nvlinkBandwidth();
    Level inner =
        known
            .map(cluster -> cluster.levels().get(0))
            .orElseGet(() -> new Level("node", Link.of(1e-5, ring), Link.of(5e-6, ring)));
    Link port = Link.of(1.2e-5, MachineSheets.ACHIEVED * card);
    Level outer = new Level("cluster", port, port, size.devices());
    DeviceKind kind = known.map(cluster -> cluster.device(0)).orElseGet(() -> kind(sheet));
    return Cluster.uniform(name, kind, List.of(inner, outer), size.devices(), size.nodes());
  }

  private static DeviceKind kind(Sheet sheet) {
    GpuMachine machine = sheet.machine();
    return new DeviceKind(
        MachineSheets.kindName(machine),
        new DeviceMemory(
            new Bytes(Math.round(machine.memoryBytes())),
            new Bytes(CONTEXT),
            new Bytes(COMMUNICATION),
            OptionalDouble.empty()),
        new FlopsPerSecond(sheet.fp32Flops()),
        new FlopsPerSecond(machine.flops(Products.HALF)),
        sheet.tf32Flops() > 0
            ? Optional.of(new FlopsPerSecond(sheet.tf32Flops()))
            : Optional.empty(),
        sheet.bfloat16(),
        new BytesPerSecond(machine.memoryBandwidth()));
  }
}
