package dev.pipewright.formats.cluster;

import dev.pipewright.formats.cluster.MeasuredTimings.Timed;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.formats.file.InputFile;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.profile.CollectiveTiming;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Reads measured collectives: what nccl-tests or the OSU micro-benchmarks print, also several runs
 * of both in one file, the JSON of nccl-tests, or a table in CSV, recognised by content. {@code
 * docs/formats.md} describes them.
 */
public final class CollectiveTimings {
  static final String KIND = "a table of timings";
  private static final String OSU = "the OSU micro-benchmarks";

  private CollectiveTimings() {}

  /** Whether a file begins like timings of collectives; its reader may still refuse it. */
  public static boolean isTimings(Path file) {
    if (InputFile.first(file) == '{') {
      Map<String, Node> members = Tree.json(file).members();
      return members.containsKey("results") && members.containsKey("config");
    }
    List<LogLine> lines = LogLines.read(file, KIND);
    return lines.stream().anyMatch(line -> NcclTests.isHeading(line) || OsuBenchmark.isTitle(line))
        || (!lines.isEmpty() && TimingTable.isHeading(lines.get(0)))
        || KnownTools.find(lines).isPresent();
  }

  /**
   * The timings in the order of the file, at least one, and what is left out.
   *
   * @throws BadInputException when the file is of no known format, says something impossible, or
   *     holds nothing that is wanted
   */
  public static MeasuredTimings read(Path file, TimingSelection selection) {
    TimingsFound found = new TimingsFound();
    if (InputFile.first(file) == '{') {
      noMachines(file, selection, "the JSON of nccl-tests");
      NcclTestsJson.read(file, selection, found);
    } else {
      read(file, selection, found);
    }
    List<Timed> wanted = wanted(file, found, selection);
    return new MeasuredTimings(wanted, found.leftOut, List.copyOf(found.notes));
  }

  private static void read(Path file, TimingSelection selection, TimingsFound found) {
    List<LogLine> lines = LogLines.read(file, KIND);
    if (lines.isEmpty()) {
      throw BadInputException.at(file, 1, "the file is empty; expected " + KIND);
    }
    boolean nccl = lines.stream().anyMatch(NcclTests::isHeading);
    boolean osu = lines.stream().anyMatch(OsuBenchmark::isTitle);
    if (nccl || osu) {
      noMachines(file, selection, "the output of " + (nccl ? "nccl-tests" : OSU));
      NcclTests.read(lines, selection, found);
      OsuBenchmark.read(lines, selection, found);
    } else if (TimingTable.isHeading(lines.get(0))) {
      new TimingTable(file, selection).read(lines, found);
    } else {
      LeftOut unknown =
          new LeftOut(lines.get(0).number(), "is of no known format", TimingWords.FORMATS);
      throw TimingWords.refusal(file, KnownTools.find(lines).orElse(unknown));
    }
  }

  private static void noMachines(Path file, TimingSelection selection, String what) {
    if (selection.machine().isPresent()) {
      throw BadInputException.at(
          file, 1, "is " + what + ", which names no machine to choose; leave out --machine");
    }
  }

  private static List<Timed> wanted(Path file, TimingsFound found, TimingSelection selection) {
    if (found.lines.isEmpty()) {
      throw found.leftOut.isEmpty()
          ? BadInputException.at(file, 1, "holds no timings; expected a row for each size")
          : TimingWords.refusal(file, found.leftOut.get(0));
    }
    List<Timed> wanted = new ArrayList<>(found.lines);
    select(
        wanted,
        timed -> selection.collective().map(kind -> kind == timed.timing().kind()).orElse(true),
        "--collective",
        found);
    if (wanted.isEmpty()) {
      throw BadInputException.at(
          file,
          1,
          "holds no timings of this collective; give --collective "
              + known(found.lines, timing -> EnumWords.word(timing.kind())));
    }
    List<Timed> ofKind = List.copyOf(wanted);
    select(
        wanted,
        timed ->
            selection.devices().isEmpty()
                || selection.devices().getAsInt() == timed.timing().devices(),
        "--devices",
        found);
    if (wanted.isEmpty()) {
      throw BadInputException.at(
          file,
          1,
          "holds no timings of %d devices; give --devices %s"
              .formatted(
                  selection.devices().orElseThrow(),
                  known(ofKind, timing -> Integer.toString(timing.devices()))));
    }
    if (selection.collective().isEmpty()) {
      withoutSteps(wanted, found);
    }
    return wanted;
  }

  private static String known(List<Timed> lines, Function<CollectiveTiming, String> word) {
    return lines.stream()
        .map(timed -> word.apply(timed.timing()))
        .distinct()
        .collect(Collectors.joining(" or "));
  }

  /** Keeps what is wanted; what {@code option} leaves out is listed, one line for each table. */
  private static void select(
      List<Timed> lines, Predicate<Timed> wanted, String option, TimingsFound found) {
    leaveOut(lines, wanted.negate(), "which " + option + " leaves out", "choose others", found);
  }

  /** Broadcasts and reductions to a root are fitted only where nothing else is there to be. */
  private static void withoutSteps(List<Timed> lines, TimingsFound found) {
    if (lines.stream().anyMatch(timed -> timed.timing().kind().hasSteps())) {
      leaveOut(
          lines,
          timed -> !timed.timing().kind().hasSteps(),
          "whose chunks their times do not tell",
          "measure all_reduce",
          found);
    }
  }

  private static void leaveOut(
      List<Timed> lines, Predicate<Timed> out, String why, String remedy, TimingsFound found) {
    Map<String, List<Timed>> tables = new LinkedHashMap<>();
    lines.stream()
        .filter(out)
        .forEach(timed ->
            tables
                .computeIfAbsent(
                    EnumWords.word(timed.timing().kind())
                        + " on "
                        + timed.timing().devices()
                        + " devices",
                    key -> new ArrayList<>())
                .add(timed));
    tables.forEach((what, table) ->
        found.leaveOut(
            table.get(0).line(),
            "%d timing%s of %s, %s"
                .formatted(table.size(), table.size() == 1 ? "" : "s", what, why),
            remedy));
    lines.removeIf(out);
  }
}
