package dev.pipewright.formats;

import dev.pipewright.formats.CollectiveTimings.Line;
import dev.pipewright.formats.CollectiveTimings.Selection;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.CollectiveTiming.Kind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What NVIDIA's nccl-tests print (and AMD's rccl-tests): a line for each rank, headings, a row for
 * each size with a time out of place and one in place, both of which are read. Sizes are as they
 * define them in their {@code doc/PERFORMANCE.md}: the whole result of an all-gather, the whole
 * input of a reduce-scatter.
 *
 * <p>Older versions do not print which collective it is. Then the ratio of bus bandwidth to
 * algorithm bandwidth tells, which they define for each.
 */
final class NcclTests {
  private static final Pattern RANK =
      Pattern.compile("#?\\s*Rank\\s+(\\d+)\\s+(Group\\s+(\\d+))?.*");
  private static final Pattern PROGRAM = Pattern.compile("\\b([a-z_]+?)_perf");
  private static final Map<String, Kind> PROGRAMS =
      Map.of(
          "all_reduce", Kind.ALL_REDUCE,
          "all_gather", Kind.ALL_GATHER,
          "reduce_scatter", Kind.REDUCE_SCATTER,
          "alltoall", Kind.ALL_TO_ALL,
          "broadcast", Kind.BROADCAST,
          "reduce", Kind.REDUCE,
          "sendrecv", Kind.POINT_TO_POINT);

  private final Path file;
  private final Selection selection;
  private final Set<Integer> ranks = new HashSet<>();
  private final List<Row> rows = new ArrayList<>();
  private final List<CollectiveTiming> timings = new ArrayList<>();
  private List<String> columns = List.of();
  private Optional<Kind> named = Optional.empty();

  /** A row of the table and its words under their headings. */
  private record Row(Line line, List<String> words, List<String> columns) {
    @Nullable String at(String column) {
      int place = columns.indexOf(column);
      return place < 0 ? null : words.get(place);
    }

    double number(String column) {
      String word = at(column);
      Double number = word == null ? null : CollectiveTimings.number(word);
      return number == null ? Double.NaN : number;
    }
  }

  NcclTests(Path file, Selection selection) {
    this.file = file;
    this.selection = selection;
  }

  /** {@code # size count type redop root time algbw busbw …}. */
  static boolean isHeading(Line line) {
    return line.text().contains("algbw") && line.text().contains("busbw");
  }

  List<CollectiveTiming> read(List<Line> lines) {
    for (Line line : lines) {
      Matcher rank = RANK.matcher(line.text().strip());
      if (rank.matches()) {
        if (!rows.isEmpty()) {
          finish(); // another run begins
        }
        if (rank.group(3) == null || rank.group(3).equals("0")) {
          ranks.add(rank.group(1).length() > 7 ? -1 : Integer.parseInt(rank.group(1)));
        }
      } else if (isHeading(line)) {
        columns = headings(line);
      } else if (!line.text().strip().startsWith("#") && isRow(line)) {
        rows.add(row(line));
      } else {
        program(line);
      }
    }
    finish();
    return timings;
  }

  private void program(Line line) {
    Matcher program = PROGRAM.matcher(line.text());
    if (!program.find()) {
      return;
    }
    if (!rows.isEmpty()) {
      finish();
    }
    Kind kind = PROGRAMS.get(program.group(1));
    if (kind == null) {
      throw BadInputException.at(
          file,
          line.number(),
          program.group() + " is not one that is read here; run all_reduce_perf or sendrecv_perf");
    }
    named = Optional.of(kind);
  }

  private static List<String> headings(Line line) {
    return line.words().stream().filter(word -> !word.equals("#")).toList();
  }

  private boolean isRow(Line line) {
    return !columns.isEmpty()
        && line.words().size() >= columns.indexOf("busbw")
        && CollectiveTimings.number(line.words().get(0)) != null;
  }

  private Row row(Line line) {
    List<String> words = line.words();
    if (words.size() != columns.size()) {
      throw BadInputException.at(
          file,
          line.number(),
          "%d values stand under %d headings; expected a row as nccl-tests print it"
              .formatted(words.size(), columns.size()));
    }
    return new Row(line, words, columns);
  }

  /** Turns the rows of a run into timings. */
  private void finish() {
    if (rows.isEmpty()) {
      return;
    }
    int devices = devices();
    Kind kind = named.orElseGet(() -> guessed(devices));
    for (Row row : rows) {
      double bytes = row.number("size");
      if (bytes == 0) {
        continue; // an all-gather of less than a byte for each
      }
      for (int place = 0; place < row.columns().size(); place++) {
        if (row.columns().get(place).equals("time")) {
          add(row, kind, devices, bytes, row.words().get(place));
        }
      }
    }
    rows.clear();
    ranks.clear();
    named = Optional.empty();
  }

  private void add(Row row, Kind kind, int devices, double bytes, String time) {
    if (time.equals("N/A")) {
      return;
    }
    Double micros = CollectiveTimings.number(time);
    double seconds = micros == null ? Double.NaN : micros / 1e6;
    timings.add(
        CollectiveTimings.timing(file, row.line(), kind, devices, bytes, seconds, time + " us"));
  }

  private int devices() {
    if (ranks.isEmpty()) {
      if (selection.devices().isPresent()) {
        return selection.devices().getAsInt();
      }
      throw BadInputException.in(
          file, "names no ranks; give their number: --devices N, a whole number >= 2");
    }
    if (ranks.size() == 1) {
      throw BadInputException.in(
          file,
          "names one rank, which exchanges nothing; run on two or more, over several processes with"
              + " nccl-tests built for MPI");
    }
    return ranks.size();
  }

  /** What the table itself tells, at its fastest row, where rounding matters least. */
  private Kind guessed(int devices) {
    Row fastest = rows.get(0);
    for (Row row : rows) {
      if (row.number("algbw") > fastest.number("algbw")) {
        fastest = row;
      }
    }
    double ratio = fastest.number("busbw") / fastest.number("algbw");
    double halves = (devices - 1.0) / devices;
    String operation = fastest.at("redop");
    boolean reduces = operation != null && !operation.equals("none");
    boolean rooted = fastest.number("root") >= 0;
    Kind kind;
    if (rooted) {
      kind = reduces ? Kind.REDUCE : Kind.BROADCAST;
    } else if (isNearest(ratio, halves, 2 * halves, 1)) {
      kind = reduces ? Kind.REDUCE_SCATTER : Kind.ALL_GATHER;
    } else if (devices > 2 && isNearest(ratio, 2 * halves, halves, 1)) {
      kind = Kind.ALL_REDUCE;
    } else if (devices > 2 && isNearest(ratio, 1, halves, 2 * halves)) {
      kind = Kind.POINT_TO_POINT;
    } else {
      return selection
          .collective()
          .orElseThrow(() ->
              BadInputException.in(
                  file,
                  "does not say which collective it times; give --collective all_reduce, or"
                      + " whichever it is"));
    }
    return kind;
  }

  private static boolean isNearest(double ratio, double wanted, double other, double third) {
    double distance = Math.abs(ratio - wanted);
    return distance < Math.abs(ratio - other) && distance < Math.abs(ratio - third);
  }
}
