package dev.pipewright.app.cli.given;

import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.text.WordTable;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.transformer.MegatronLayout;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What {@code check --megatron-layout} is asked and answers. */
final class LayoutCheck {
  static final List<String> OPTIONS =
      List.of("--megatron-layout", "--pipeline", "--layers", "--mtp-layers");

  @Option(
      names = "--megatron-layout",
      paramLabel = "LAYOUT",
      description =
          "Instead of a file: which layers Megatron's --pipeline-model-parallel-layout gives each"
              + " stage, like 'Et*3|(tt|)*29,m|L', and whether Megatron takes it. Needs --pipeline.")
  @Nullable String layout;

  @Option(names = "--pipeline", paramLabel = "P", description = "Pipeline ranks of the layout.")
  @Nullable Integer pipeline;

  @Option(
      names = "--layers",
      paramLabel = "L",
      description = "Decoder layers that the layout must have. Default: as many as it has.")
  @Nullable Integer layers;

  @Option(
      names = "--mtp-layers",
      paramLabel = "M",
      description = "Layers of multi-token prediction that the layout must have. Default: none.")
  @Nullable Integer mtpLayers;

  /** Prints the answer; returns the exit status. */
  int answer(PrintWriter out, boolean json) {
    MegatronLayout read = MegatronLayout.parse(layout + "", required());
    List<String> problems =
        read.problems(count("--layers", layers), count("--mtp-layers", mtpLayers));
    if (json) {
      out.print(JsonText.of(object(read, problems)));
    } else {
      out.print(table(read).in(Terminal.columns(), Terminal.colours()));
      problems.forEach(problem -> out.print(Terminal.sentence(problem)));
      notes(read).forEach(note -> out.print(Terminal.sentence(note)));
      if (problems.isEmpty()) {
        out.print(Terminal.sentence("Megatron takes this layout: " + words(read)));
      }
    }
    return problems.isEmpty() ? 0 : Failures.NO;
  }

  private int required() {
    if (pipeline == null) {
      throw new BadInputException(
          "--megatron-layout: needs the number of pipeline ranks; add --pipeline P");
    }
    return pipeline;
  }

  private static OptionalInt count(String option, @Nullable Integer value) {
    if (value == null) {
      return OptionalInt.empty();
    }
    if (value < 0) {
      throw new BadInputException(
          option + ": " + value + " is no number of layers; give a whole number >= 0");
    }
    return OptionalInt.of(value);
  }

  private static Map<String, Object> object(MegatronLayout read, List<String> problems) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("valid", problems.isEmpty());
    object.put(
        "problems",
        problems.stream().map(each -> JsonText.pair("what", "layout", "message", each)).toList());
    Map<String, Object> counted = new LinkedHashMap<>();
    counted.put("ranks", read.ranks());
    counted.put("stages", read.stages().size());
    counted.put("chunks", read.chunks());
    counted.put("decoder_layers", read.count(MegatronLayout.Kind.DECODER));
    counted.put("mtp_layers", read.count(MegatronLayout.Kind.MTP));
    object.put("counted", counted);
    List<Object> ranks = new ArrayList<>();
    for (int rank = 0; rank < read.ranks(); rank++) {
      int each = rank;
      ranks.add(
          IntStream.range(0, read.chunks())
              .mapToObj(
                  chunk -> read.stage(each, chunk).stream().map(MegatronLayout.Kind::word).toList())
              .toList());
    }
    object.put("stages", ranks);
    object.put("notes", notes(read));
    return object;
  }

  private static List<String> notes(MegatronLayout read) {
    List<Integer> empty = read.empty();
    return empty.isEmpty()
        ? List.of()
        : List.of(
            "stages without layers: %s; Megatron's parser takes them, but runs with them were reported to deadlock (Megatron-LM #1852)"
                .formatted(empty.toString().replaceAll("[\\[\\]]", "")));
  }

  private static String words(MegatronLayout read) {
    int mtp = read.count(MegatronLayout.Kind.MTP);
    return "%d decoder layers%s in %d stages, %d on each of %d ranks"
        .formatted(
            read.count(MegatronLayout.Kind.DECODER),
            mtp == 0 ? "" : " and %d of multi-token prediction".formatted(mtp),
            read.stages().size(),
            read.chunks(),
            read.ranks());
  }

  /** A line for each rank or run of equal ranks, a column for each chunk. */
  private static WordTable table(MegatronLayout read) {
    WordTable table = new WordTable().text("rank");
    for (int chunk = 0; chunk < read.chunks(); chunk++) {
      table.text("chunk " + chunk);
    }
    int first = 0;
    for (int rank = 1; rank <= read.ranks(); rank++) {
      if (rank == read.ranks() || !cells(read, rank).equals(cells(read, first))) {
        List<String> row = new ArrayList<>();
        row.add(rank - 1 == first ? "" + first : first + "–" + (rank - 1));
        row.addAll(cells(read, first));
        table.row(row.toArray());
        first = rank;
      }
    }
    return table;
  }

  private static List<String> cells(MegatronLayout read, int rank) {
    return IntStream.range(0, read.chunks())
        .mapToObj(chunk -> runs(read.stage(rank, chunk)))
        .toList();
  }

  /** {@code embedding, decoder × 3}. */
  private static String runs(List<MegatronLayout.Kind> stage) {
    List<String> runs = new ArrayList<>();
    int first = 0;
    for (int i = 1; i <= stage.size(); i++) {
      if (i == stage.size() || stage.get(i) != stage.get(first)) {
        String word = stage.get(first).word();
        runs.add(i - first == 1 ? word : word + " × " + (i - first));
        first = i;
      }
    }
    return runs.isEmpty() ? "–" : String.join(", ", runs);
  }
}
