package dev.pipewright.formats.cluster;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.formats.machine.MachineClusters;
import dev.pipewright.units.Range;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A system of NVIDIA's AIConfigurator ({@code systems/h100_sxm.yaml}): the GPU is the one of its
 * {@code data_dir}, nodes and network are as the file says. One cluster of 512 GPUs.
 */
final class AiConfiguratorSystem {
  private static final Pattern START =
      Pattern.compile("(?s)(\\s*#[^\\n]*\\n)*\\s*data_dir:.*\\bnum_gpus_per_node:.*");
  private static final Pattern FORM = Pattern.compile("_(sxm|pcie|nvl|oam)\\d*$");
  private static final int DEVICES = 512;
  private static final double BITS = 8;

  private AiConfiguratorSystem() {}

  static boolean begins(String start) {
    return START.matcher(start).matches();
  }

  static Cluster read(Path file) {
    Fields system = Tree.yamlOrJson(file).object();
    Node folder = system.required("data_dir");
    String gpu = folder.text().replaceFirst(".*/", "").toLowerCase(Locale.ROOT);
    Fields node = system.required("node").object();
    int gpus = node.required("num_gpus_per_node").count(1);
    double bytes = node.required("inter_node_bw").positive(Range.BYTES_PER_SECOND);
    long gigabits = Math.round(bytes * gpus * BITS / 1e9);
    String machine = FORM.matcher(gpu).replaceFirst("");
    int nodes = Math.max(1, DEVICES / gpus);
    String base = MachineClusters.sheetName(machine);
    String name = "%s-%dx%dg:%dx%d".formatted(base, gpus, gigabits, nodes, gpus);
    return StatedMachine.of(file, folder.line(), name, machine);
  }
}
