package dev.pipewright.formats.cluster;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.TextLines;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * A node as {@code nvidia-smi topo -m} prints it: how many GPUs it has and how many NVLinks join
 * them. The matrix says neither which GPUs these are nor how nodes are joined.
 */
final class GpuTopology {
  private static final Pattern ESCAPES = Pattern.compile("\u001b\\[[0-9;]*m");
  private static final Pattern HEADER =
      Pattern.compile("(?s)\\s*GPU0\\s+(GPU1|CPU|NIC0|\\S+\\s+Affinity).*");
  private static final Pattern ROW =
      Pattern.compile("GPU(\\d{1,3})\\s+(X|NV\\d|PIX|PXB|PHB|NODE|SYS).*");
  private static final Pattern BLANKS = Pattern.compile("\\s+");

  private GpuTopology() {}

  static boolean begins(String start) {
    return HEADER.matcher(ESCAPES.matcher(start).replaceAll("")).matches();
  }

  /** Says what the file leaves open. */
  static Cluster refuse(Path file) {
    Node node = node(file);
    throw BadInputException.in(
        file,
        "joins %d GPUs%s and does not say which they are; write `pipewright clusters %s --for h100 > mine.yaml` with their name"
            .formatted(
                node.gpus(),
                node.links() > 0 ? " by " + node.links() + " NVLinks each" : "",
                file));
  }

  /** What a matrix says. */
  private record Node(int gpus, int links) {}

  /** One node of such machines. */
  static Cluster read(Path file, String machine) {
    return StatedMachine.of(file, 1, machine + ":1x" + node(file).gpus(), machine);
  }

  private static Node node(Path file) {
    int gpus = 0;
    int links = 0;
    int line = 0;
    for (String text : TextLines.ofLog(file, "what `nvidia-smi topo -m` prints")) {
      line++;
      String row = ESCAPES.matcher(text).replaceAll("").strip();
      if (!ROW.matcher(row).matches()) {
        continue;
      }
      gpus++;
      Set<Integer> joined = new TreeSet<>();
      for (String cell : BLANKS.split(row, -1)) {
        if (cell.matches("NV\\d{1,3}")) {
          joined.add(Integer.parseInt(cell.substring(2)));
        }
      }
      if (joined.size() > 1) {
        throw BadInputException.at(
            file,
            line,
            "GPU%d has neighbours with %s NVLinks; a node whose GPUs are joined alike is expected"
                .formatted(gpus - 1, joined));
      }
      links = joined.isEmpty() ? links : joined.iterator().next();
    }
    if (gpus == 0) {
      throw BadInputException.at(file, 1, "the matrix has no rows of GPUs; expected GPU0 X NV18 …");
    }
    return new Node(gpus, links);
  }
}
