package dev.pipewright.formats.cluster;

import dev.pipewright.formats.file.TextLines;
import dev.pipewright.profile.CollectiveTiming.Kind;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the OSU micro-benchmarks print: a title, headings, a row for each size with the average time
 * in microseconds and perhaps more after it. How many ranks ran is not printed. Sizes are what one
 * rank sends to each other one in an all-gather and an all-to-all, so these are multiplied by the
 * number of ranks; all other sizes are whole already. Tables without a time, like those of
 * bandwidth tests, are left out.
 */
final class OsuBenchmark {
  private static final Pattern TITLE =
      Pattern.compile("#?\\s*OSU\\s+((?:MPI|NCCL|XCCL|RCCL)\\S*\\s+)?(.*)\\bTest\\b.*");
  private static final Pattern SIZE = Pattern.compile("\\d{1,19}");
  private static final Pattern VALUE =
      Pattern.compile(
          "\\d+(?:\\.\\d*)?(?:[eE][-+]?\\d+)?|Pass|Fail|N/A|-", Pattern.CASE_INSENSITIVE);
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

  private final TimingSelection selection;
  private final TimingsFound found;
  private @Nullable Kind kind; // of the table that is read
  private boolean countMissing; // said once for each table

  private OsuBenchmark(TimingSelection selection, TimingsFound found) {
    this.selection = selection;
    this.found = found;
  }

  static boolean isTitle(LogLine line) {
    return TITLE.matcher(line.body().strip()).matches();
  }

  static void read(List<LogLine> lines, TimingSelection selection, TimingsFound found) {
    OsuBenchmark reader = new OsuBenchmark(selection, found);
    lines.forEach(reader::read);
  }

  private void read(LogLine line) {
    Matcher title = TITLE.matcher(line.body().strip());
    if (title.matches()) {
      title(line, title.group(2).strip());
    } else if (NcclTests.isHeading(line)) {
      kind = null;
    } else if (kind != null && isRow(line.rowWords())) {
      row(line, kind, line.rowWords());
    }
  }

  private void title(LogLine line, String title) {
    kind = TITLES.get(TimingWords.letters(title));
    countMissing = false;
    if (kind != null) {
      return;
    }
    if (TimingWords.letters(title).contains("bandwidth")) {
      found.leaveOut(
          line.number(),
          "this is the table of the OSU test \""
              + title
              + "\": bandwidths of many messages in flight, from which no latency follows",
          "run osu_latency or osu_allreduce");
    } else {
      found.leaveOut(
          line.number(),
          "the OSU test \"" + title + "\" is not one that is read here",
          "run osu_latency, osu_allreduce, osu_allgather or osu_reduce_scatter");
    }
  }

  private static boolean isRow(List<String> words) {
    return SIZE.matcher(words.get(0)).matches()
        && words.stream().skip(1).allMatch(word -> VALUE.matcher(word).matches());
  }

  private void row(LogLine line, Kind kind, List<String> words) {
    double size = Double.parseDouble(words.get(0));
    Double micros = words.size() < 2 ? null : TextLines.number(words.get(1));
    OptionalInt devices = kind == Kind.POINT_TO_POINT ? OptionalInt.of(2) : selection.devices();
    if (size == 0) {
      found.leaveOut(line.number(), "a message of 0 bytes", "measure larger ones");
    } else if (micros == null) {
      found.leaveOut(line.number(), "has no time after the size", "expected size and microseconds");
    } else if (words.stream().anyMatch("fail"::equalsIgnoreCase)) {
      found.leaveOut(line.number(), "the validation failed", "find out why and measure again");
    } else if (devices.isEmpty()) {
      missingCount(line);
    } else {
      boolean each = kind == Kind.ALL_GATHER || kind == Kind.ALL_TO_ALL;
      found.add(
          line.number(),
          kind,
          devices.getAsInt(),
          each ? size * devices.getAsInt() : size,
          micros / 1e6,
          words.get(1) + " us");
    }
  }

  private void missingCount(LogLine line) {
    if (!countMissing) {
      found.leaveOut(
          line.number(),
          "does not say how many ranks ran",
          "give their number: --devices N, a whole number >= 2");
      countMissing = true;
    }
  }
}
