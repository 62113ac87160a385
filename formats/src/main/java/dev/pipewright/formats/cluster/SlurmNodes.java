package dev.pipewright.formats.cluster;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.TextLines;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Slurm's nodes, as {@code scontrol show node} prints them or {@code slurm.conf} states them: their
 * number and the GPUs of {@code Gres=gpu:h100:8}. Nodes that are drained or down are left out.
 */
final class SlurmNodes {
  private static final Pattern START = Pattern.compile("(?s)\\s*(#[^\\n]*\\n\\s*)*NodeName=.*");
  private static final Pattern FIELD = Pattern.compile("(\\w+)=(\\S+)");
  private static final Pattern GPUS = Pattern.compile("gpu(?::([a-zA-Z][\\w.-]*))?:(\\d{1,4}).*");
  private static final Pattern RANGE = Pattern.compile("(\\d{1,9})-(\\d{1,9})");
  private static final Pattern OUT = Pattern.compile("(?i).*(DRAIN|DOWN|FAIL|MAINT).*");
  private static final int MOST_NODES = 100_000;

  private SlurmNodes() {}

  /** Nodes of one line or paragraph. */
  private record Nodes(int line, long count, String gres, String state) {}

  static boolean begins(String start) {
    return START.matcher(start).matches();
  }

  static Cluster read(Path file) {
    Map<String, Long> usable = new TreeMap<>(); // nodes by Gres
    int line = 1;
    int left = 0;
    for (Nodes nodes : nodes(file)) {
      if (OUT.matcher(nodes.state()).matches()) {
        left++;
      } else if (!nodes.gres().isEmpty()) {
        usable.merge(nodes.gres(), nodes.count(), Long::sum);
        line = nodes.line();
      }
    }
    if (usable.isEmpty()) {
      throw BadInputException.at(
          file,
          1,
          "no node has GPUs%s; expected Gres=gpu:h100:8".formatted(left > 0 ? " and is up" : ""));
    }
    if (usable.size() > 1) {
      throw BadInputException.at(
          file,
          line,
          "nodes have different GPUs (%s); give those of one kind"
              .formatted(String.join(", ", usable.keySet())));
    }
    Map.Entry<String, Long> only = usable.entrySet().iterator().next();
    return cluster(file, line, only.getKey(), only.getValue());
  }

  private static Cluster cluster(Path file, int line, String gres, long nodes) {
    Matcher gpus = GPUS.matcher(gres);
    if (!gpus.matches() || gpus.group(1) == null) {
      throw BadInputException.at(
          file,
          line,
          "Gres=%s does not say which GPUs; expected gpu:h100:8, or give --cluster h100:%dx8"
              .formatted(gres, nodes));
    }
    String name =
        "%s:%dx%s".formatted(gpus.group(1).toLowerCase(Locale.ROOT), nodes, gpus.group(2));
    if (nodes > MOST_NODES) {
      throw BadInputException.at(
          file, line, "%d nodes are more than can be planned".formatted(nodes));
    }
    return StatedMachine.of(file, line, name, gpus.group(1));
  }

  private static List<Nodes> nodes(Path file) {
    List<Nodes> all = new ArrayList<>();
    Map<String, String> fields = new TreeMap<>();
    int first = 1;
    int number = 0;
    for (String text : TextLines.ofLog(file, "what `scontrol show node` prints")) {
      number++;
      if (text.strip().startsWith("#")) {
        continue;
      }
      Matcher field = FIELD.matcher(text);
      while (field.find()) {
        if (field.group(1).equals("NodeName")) {
          add(all, file, first, fields);
          fields.clear();
          first = number;
        }
        fields.put(field.group(1), field.group(2));
      }
    }
    add(all, file, first, fields);
    return all;
  }

  private static void add(List<Nodes> all, Path file, int line, Map<String, String> fields) {
    @Nullable String name = fields.get("NodeName");
    if (name != null && !name.equals("DEFAULT")) {
      String gres = fields.getOrDefault("Gres", "").replaceFirst("\\(.*", "");
      boolean none = gres.equals("null)") || gres.startsWith("(");
      all.add(
          new Nodes(
              line, hosts(file, line, name), none ? "" : gres, fields.getOrDefault("State", "")));
    }
  }

  /** How many hosts a list names: three of {@code n[01-02,7]}. */
  private static long hosts(Path file, int line, String name) {
    int open = name.indexOf('[');
    if (open < 0) {
      return name.chars().filter(c -> c == ',').count() + 1;
    }
    long count = 0;
    for (String part : name.substring(open + 1).replaceFirst("\\].*", "").split(",", -1)) {
      Matcher range = RANGE.matcher(part);
      long hosts =
          range.matches()
              ? Long.parseLong(range.group(2)) - Long.parseLong(range.group(1)) + 1
              : part.matches("\\d{1,9}") ? 1 : 0;
      if (hosts < 1) {
        throw BadInputException.at(
            file, line, "NodeName=%s is no list of hosts; expected n[01-04,7]".formatted(name));
      }
      count += hosts;
    }
    return count;
  }
}
