package dev.pipewright.formats;

import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.CollectiveTiming.Kind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads measured collectives: what nccl-tests or the OSU micro-benchmarks print, or a table in CSV,
 * recognised by content. {@code docs/formats.md} describes them.
 */
public final class CollectiveTimings {
  /** How options and tables spell what is exchanged. */
  public static final Map<String, Kind> KINDS = Words.of(Kind.values());

  static final String KIND = "a table of timings";
  private static final int MOST_LINES = 200_000;

  private CollectiveTimings() {}

  /**
   * What of a file is wanted, and what the file may not say.
   *
   * @param collective only these; where the file does not tell what it times, it is these
   * @param devices only timings of so many; where the file does not tell how many, it is so many
   * @param machine only timings of this one
   */
  public record Selection(
      Optional<Kind> collective, OptionalInt devices, Optional<String> machine) {
    public static final Selection ALL =
        new Selection(Optional.empty(), OptionalInt.empty(), Optional.empty());
  }

  /** A line that is not blank; numbers count from 1. */
  record Line(int number, String text) {
    List<String> words() {
      return List.of(text.strip().split("\\s+", -1));
    }
  }

  /**
   * The timings in the order of the file, at least one.
   *
   * @throws BadInputException when the file is of no known format, says something impossible, or
   *     holds nothing that is wanted
   */
  public static List<CollectiveTiming> read(Path file, Selection selection) {
    List<Line> lines = lines(file);
    List<CollectiveTiming> all;
    if (lines.stream().anyMatch(NcclTests::isHeading)) {
      noMachines(file, selection, "the output of nccl-tests");
      all = new NcclTests(file, selection).read(lines);
    } else if (lines.stream().anyMatch(OsuBenchmark::isTitle)) {
      noMachines(file, selection, "the output of the OSU micro-benchmarks");
      all = new OsuBenchmark(file, selection).read(lines);
    } else if (TimingTable.isHeading(lines.get(0))) {
      all = new TimingTable(file, selection).read(lines);
    } else {
      throw BadInputException.at(
          file,
          lines.get(0).number(),
          "is of no known format; expected what nccl-tests or the OSU micro-benchmarks print, or a"
              + " CSV with the columns devices, bytes and seconds, time_us or time_ns");
    }
    return wanted(file, all, selection);
  }

  private static List<Line> lines(Path file) {
    List<Line> lines = new ArrayList<>();
    try (TextLines text = TextLines.open(file, KIND)) {
      for (String line = text.next(); line != null; line = text.next()) {
        if (text.number() > MOST_LINES) {
          throw BadInputException.at(
              file, text.number(), "has more than 200,000 lines; keep the tables only");
        }
        if (!line.isBlank()) {
          lines.add(new Line(text.number(), line));
        }
      }
    }
    if (lines.isEmpty()) {
      throw BadInputException.at(file, 1, "the file is empty; expected " + KIND);
    }
    return lines;
  }

  private static void noMachines(Path file, Selection selection, String what) {
    if (selection.machine().isPresent()) {
      throw BadInputException.in(
          file, "is " + what + ", which names no machine to choose; leave out --machine");
    }
  }

  private static List<CollectiveTiming> wanted(
      Path file, List<CollectiveTiming> all, Selection selection) {
    if (all.isEmpty()) {
      throw BadInputException.in(file, "holds no timings; expected a row for each size");
    }
    List<CollectiveTiming> wanted =
        all.stream()
            .filter(
                timing -> selection.collective().map(kind -> kind == timing.kind()).orElse(true))
            .toList();
    if (wanted.isEmpty()) {
      throw BadInputException.in(
          file,
          "holds no timings of this collective; give --collective "
              + all.stream()
                  .map(timing -> Words.word(timing.kind()))
                  .distinct()
                  .collect(Collectors.joining(" or ")));
    }
    List<CollectiveTiming> counted =
        wanted.stream()
            .filter(timing ->
                selection.devices().isEmpty() || selection.devices().getAsInt() == timing.devices())
            .toList();
    if (counted.isEmpty()) {
      throw BadInputException.in(
          file,
          "holds no timings of %d devices; give --devices %s"
              .formatted(
                  selection.devices().orElseThrow(),
                  wanted.stream()
                      .map(timing -> Integer.toString(timing.devices()))
                      .distinct()
                      .collect(Collectors.joining(" or "))));
    }
    return counted;
  }

  /** A word as a number, or null. */
  static @Nullable Double number(String word) {
    try {
      return Double.valueOf(word);
    } catch (NumberFormatException e) {
      return null;
    }
  }

  /** One timing of a line; says what of it cannot be. */
  static CollectiveTiming timing(
      Path file, Line line, Kind kind, int devices, double bytes, double seconds, String time) {
    if (devices < 2) {
      throw BadInputException.at(
          file, line.number(), "devices=" + devices + " exchange nothing; measure two or more");
    }
    if (!(bytes > 0 && bytes < Double.POSITIVE_INFINITY)) {
      throw BadInputException.at(
          file, line.number(), "the size %s is no message; sizes are bytes > 0".formatted(bytes));
    }
    if (!(seconds > 0 && seconds < Double.POSITIVE_INFINITY)) {
      throw BadInputException.at(
          file, line.number(), "the time %s is impossible; a time is a number > 0".formatted(time));
    }
    return new CollectiveTiming(kind, devices, bytes, seconds);
  }

  /** Letters only, small. */
  static String letters(String text) {
    return text.toLowerCase(Locale.ROOT).replaceAll("[^a-z]", "");
  }
}
