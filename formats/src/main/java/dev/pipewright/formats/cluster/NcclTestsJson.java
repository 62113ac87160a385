package dev.pipewright.formats.cluster;

import dev.pipewright.formats.cluster.NcclRow.Half;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.units.Range;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What nccl-tests write with {@code -J FILE}: {@code config} with the devices, {@code results} with
 * an object for each size. Keys that are not needed are ignored. With several devices for each
 * process the tool lists the first one of each process only.
 */
final class NcclTestsJson {
  private static final Pattern PROGRAM = Pattern.compile("([a-z_0-9]+)_perf\\b");
  private static final int LARGEST_GROUP = 1_000;

  private final TimingSelection selection;
  private final TimingsFound found;

  private NcclTestsJson(TimingSelection selection, TimingsFound found) {
    this.selection = selection;
    this.found = found;
  }

  static void read(Path file, TimingSelection selection, TimingsFound found) {
    Node root = Tree.json(file);
    if (!root.members().containsKey("results") || !root.members().containsKey("config")) {
      throw root.wrong(
          "is JSON, but not of nccl-tests -J, which has \"config\" and \"results\"; "
              + TimingWords.FORMATS);
    }
    new NcclTestsJson(selection, found).read(root.object());
  }

  private void read(Fields root) {
    NcclRun run = new NcclRun();
    Fields config = root.required("config").object();
    run.setRanks(ranks(config));
    program(root).ifPresent(run::setProgram);
    long together =
        config.optional("aggregated_iterations").map(node -> (long) node.count(1)).orElse(1L);
    NcclTests.noteAggregated(found, together);
    for (Node result : root.required("results").list()) {
      run.rows().add(row(result));
    }
    root.optional("out_of_bounds").ifPresent(check -> failed(check, run));
    run.addTo(found, selection);
  }

  private static Optional<String> program(Fields root) {
    return root.optional("args")
        .flatMap(args -> args.list().stream().findFirst())
        .map(argument -> PROGRAM.matcher(argument.text()))
        .filter(Matcher::find)
        .map(matcher -> matcher.group(1));
  }

  private static void failed(Node check, NcclRun run) {
    check
        .object()
        .optional("okay")
        .filter(okay -> okay.is(Node.Type.FLAG) ? !okay.flag() : okay.text().equals("false"))
        .ifPresent(okay -> run.setFailed(okay.line()));
  }

  /** Ranks of group 0, as all groups work at once; 0 where there is no list. */
  private static int ranks(Fields config) {
    List<Integer> ranks = new ArrayList<>();
    for (Node device : config.optional("devices").map(Node::list).orElse(List.of())) {
      Fields fields = device.object();
      if (fields.optional("group").map(group -> group.count(0)).orElse(0) == 0) {
        ranks.add(fields.required("rank").count(0));
      }
    }
    int each = each(config, "nthreads") * each(config, "ngpus");
    boolean all = ranks.size() > 1 && Math.abs(ranks.get(1) - ranks.get(0)) < each;
    return all ? ranks.size() : ranks.size() * each;
  }

  private static int each(Fields config, String key) {
    return config.optional(key).map(node -> Math.min(LARGEST_GROUP, node.count(1))).orElse(1);
  }

  private NcclRow row(Node result) {
    Fields fields = result.object();
    List<Half> halves = new ArrayList<>();
    half(fields, "out_of_place").ifPresent(halves::add);
    half(fields, "in_place").ifPresent(halves::add);
    return new NcclRow(
        result.line(),
        fields.required("size").amount(Range.BYTES),
        fields.optional("redop").map(node -> node.text().strip()).orElse("none"),
        fields.optional("root").map(NcclTestsJson::root).orElse(-1),
        halves);
  }

  /** The tool writes it as text. */
  private static int root(Node root) {
    if (root.is(Node.Type.TEXT) && root.text().strip().matches("-?\\d{1,9}")) {
      return Integer.parseInt(root.text().strip());
    }
    return root.within(Integer.MAX_VALUE);
  }

  private Optional<Half> half(Fields result, String key) {
    Optional<Node> node = result.optional(key);
    if (node.isEmpty()) {
      return Optional.empty();
    }
    Fields fields = node.get().object();
    if (fields.node().members().containsKey("cpu_time")) {
      found.leaveOut(node.get().line(), NcclColumns.OF_PROCESSOR, NcclColumns.WITHOUT_C);
      return Optional.empty();
    }
    Optional<Node> time = fields.optional("time").filter(value -> value.is(Node.Type.NUMBER));
    return Optional.of(
        new Half(
            key.equals("in_place") ? " in place" : " out of place",
            time.map(value -> value.amount(Range.COST)).orElse(Double.NaN),
            time.map(value -> Double.toString(value.amount(Range.COST))).orElse("nan"),
            rate(fields, "alg_bw"),
            rate(fields, "bus_bw"),
            rate(fields, "nwrong")));
  }

  private static double rate(Fields fields, String key) {
    return fields
        .optional(key)
        .filter(value -> value.is(Node.Type.NUMBER))
        .map(value -> value.amount(Range.COST))
        .orElse(0.0);
  }
}
