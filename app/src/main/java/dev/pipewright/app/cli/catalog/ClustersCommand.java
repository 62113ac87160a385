package dev.pipewright.app.cli.catalog;

import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceMemory;
import dev.pipewright.cluster.Level;
import dev.pipewright.formats.cluster.ClusterFiles;
import dev.pipewright.formats.cluster.ClusterYaml;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.machine.MachineClusters;
import dev.pipewright.formats.problem.ClusterNames;
import dev.pipewright.units.Units;
import dev.pipewright.zoo.Clusters;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "clusters",
    description = "Lists the clusters that need no file, or prints one as a file to start from.",
    footer = {
      "",
      "Examples:",
      "  pipewright clusters",
      "  pipewright clusters --for h100",
      "  pipewright clusters b200:16x8 > mine.yaml",
      "  pipewright clusters dapple-a:4x8 > mine.yaml"
    })
public final class ClustersCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "CLUSTER",
      description =
          "Print this one as YAML; or only list those whose name or device has this word.")
  private @Nullable String name;

  @Option(
      names = "--for",
      paramLabel = "DEVICE",
      description =
          "Only clusters of this device, clouds' nodes included, like h100 or mi300x; or the device"
              + " of a file that says none (`nvidia-smi topo -m`).")
  private @Nullable String device;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  ClustersCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    if (name != null && (device != null || alike().isEmpty())) {
      Cluster cluster =
          device == null
              ? ClusterNames.resolve(name)
              : ClusterFiles.read(FileNames.file("the cluster", name), device);
      out.print(json ? object(cluster) : ClusterYaml.text(cluster));
    } else if (json) {
      out.println(
          listed().stream()
              .map(ClustersCommand::entry)
              .collect(Collectors.joining(", ", "{\"clusters\": [", "]}")));
    } else {
      listed().forEach(known -> print(out, known));
      if (name == null && device == null) {
        out.print(
            "\n"
                + Terminal.sentence(
                    "Of machines in any number, as b200:16x8 or 8xH100: "
                        + String.join(", ", MachineClusters.names()),
                    2));
      }
    }
    return 0;
  }

  private static String object(Cluster cluster) {
    String yaml = ClusterYaml.text(cluster);
    return JsonText.of(
        new TreeMap<>(Map.of("name", cluster.name(), "devices", cluster.size(), "yaml", yaml)));
  }

  private static String entry(String known) {
    int devices = ClusterNames.resolve(known).size();
    return "{\"name\": \"" + known + "\", \"devices\": " + devices + "}";
  }

  private static void print(PrintWriter out, String known) {
    Cluster cluster = ClusterNames.resolve(known);
    DeviceMemory memory = cluster.device(0).deviceMemory();
    out.print(
        Terminal.sentence(
            "%-17s %4d × %s, %s of %s for tensors"
                .formatted(
                    known,
                    cluster.size(),
                    cluster.device(0).name(),
                    memory.process(),
                    memory.reported()),
            4));
    for (int level = 0; level < cluster.levels().size(); level++) {
      Level joins = cluster.levels().get(level);
      out.print(
          Terminal.sentence(
              "  %-9s of %4d: point to point %s, collective %s%s"
                  .formatted(
                      joins.name(),
                      cluster.groups().get(level).get(0),
                      joins.pointToPoint().bandwidth(),
                      joins.collective().bandwidth(),
                      joins.ports() == 1 ? "" : " × " + ports(joins.ports()) + " ports")));
    }
  }

  /** The clusters to list. */
  private List<String> listed() {
    if (device == null) {
      return name == null ? Clusters.names() : alike();
    }
    return ClusterNames.of(device);
  }

  private static String ports(double ports) {
    return ports == Math.rint(ports) ? String.valueOf((long) ports) : Units.significant(ports);
  }

  /** Clusters that a word is part of, where it is the name or the file of none. */
  private List<String> alike() {
    if (name == null || Clusters.names().contains(name) || name.contains(":")) {
      return List.of();
    }
    boolean one =
        ClusterNames.isMachine(name)
            || FileNames.isPath(name)
            || Files.exists(FileNames.file("the cluster", name));
    return one ? List.of() : ClusterNames.alike(name);
  }
}
