package dev.pipewright.formats;

import dev.pipewright.formats.CollectiveTimings.Line;
import dev.pipewright.formats.CollectiveTimings.Selection;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.CollectiveTiming.Kind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the OSU micro-benchmarks print: a title, headings, a row for each size with the average time
 * in microseconds and perhaps more behind it. How many ranks ran is not printed. Sizes are what one
 * rank sends to each other one in an all-gather and an all-to-all, so these are multiplied by the
 * number of ranks; all other sizes are whole already.
 */
final class OsuBenchmark {
  private static final Pattern TITLE =
      Pattern.compile("#?\\s*OSU\\s+((?:MPI|NCCL|XCCL|RCCL)\\S*\\s+)?(.*)\\bTest\\b.*");
  private static final Map<String, Kind> TITLES =
      Map.of(
          "allreducelatency", Kind.ALL_REDUCE,
          "allgatherlatency", Kind.ALL_GATHER,
          "reducescatterlatency", Kind.REDUCE_SCATTER,
          "alltoalllatency", Kind.ALL_TO_ALL,
          "alltoallpersonalizedexchangelatency", Kind.ALL_TO_ALL,
          "broadcastlatency", Kind.BROADCAST,
          "reducelatency", Kind.REDUCE,
          "latency", Kind.POINT_TO_POINT);

  private final Path file;
  private final Selection selection;

  OsuBenchmark(Path file, Selection selection) {
    this.file = file;
    this.selection = selection;
  }

  static boolean isTitle(Line line) {
    return TITLE.matcher(line.text().strip()).matches();
  }

  List<CollectiveTiming> read(List<Line> lines) {
    List<CollectiveTiming> timings = new ArrayList<>();
    @Nullable Kind kind = null;
    for (Line line : lines) {
      Matcher title = TITLE.matcher(line.text().strip());
      if (title.matches()) {
        kind = kind(line, title.group(2));
      } else if (kind != null && !line.text().strip().startsWith("#")) {
        List<String> words = line.words();
        Double size = CollectiveTimings.number(words.get(0));
        if (size != null && size != 0) {
          timings.add(timing(line, kind, size, words));
        }
      }
    }
    return timings;
  }

  private Kind kind(Line line, String title) {
    String letters = CollectiveTimings.letters(title);
    Kind kind = TITLES.get(letters);
    if (kind != null) {
      return kind;
    }
    if (letters.contains("bandwidth")) {
      throw BadInputException.at(
          file,
          line.number(),
          "a bandwidth test keeps many messages in flight, so no latency follows from it; run"
              + " osu_latency or osu_allreduce");
    }
    throw BadInputException.at(
        file,
        line.number(),
        "the test \""
            + title.strip()
            + "\" is not one that is read here; run osu_latency, osu_allreduce, osu_allgather or"
            + " osu_reduce_scatter");
  }

  private CollectiveTiming timing(Line line, Kind kind, double size, List<String> words) {
    String time = words.size() < 2 ? "" : words.get(1);
    Double micros = CollectiveTimings.number(time);
    if (micros == null) {
      throw BadInputException.at(
          file, line.number(), "has no time behind the size; expected size and microseconds");
    }
    int devices = kind == Kind.POINT_TO_POINT ? 2 : devices();
    boolean each = kind == Kind.ALL_GATHER || kind == Kind.ALL_TO_ALL;
    return CollectiveTimings.timing(
        file, line, kind, devices, each ? size * devices : size, micros / 1e6, time + " us");
  }

  private int devices() {
    return selection
        .devices()
        .orElseThrow(() ->
            BadInputException.in(
                file,
                "does not say how many ranks ran; give their number: --devices N, a whole number"
                    + " >= 2"));
  }
}
