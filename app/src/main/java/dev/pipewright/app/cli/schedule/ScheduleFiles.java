package dev.pipewright.app.cli.schedule;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.timeline.PerfettoTrace;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.ScheduleHtml;
import dev.pipewright.app.report.timeline.Shown;
import dev.pipewright.app.report.timeline.TimelineSvg;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.formats.file.OutputFile.Text;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.schedule.ScheduleCsv;
import dev.pipewright.schedule.Schedule;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The files that a schedule is written to, each checked before anything is made or printed. */
public final class ScheduleFiles implements AutoCloseable {
  private static final int MOST_DRAWN = 60_000; // ops of a picture
  private static final int MOST_TRACED = 1 << 20; // of a page or a trace
  private static final double MOST_SECONDS = 9e9; // of which 2^63 nanoseconds are a little more
  private static final int HEAD = 1 << 16; // bytes that tell whose file it is
  private static final int HEAD_LINES = 10;

  /**
   * A kind of file. The first of the schedules is the one that was asked for.
   *
   * @param name in a folder; empty for what is not written there
   * @param ours whether a file is of this kind
   */
  private record Kind(
      String option, String name, Predicate<Path> ours, BiFunction<Schedule, Runs, Text> text) {}

  private static final Kind CSV =
      new Kind(
          "--csv",
          "schedule.csv",
          ScheduleCsv::isSchedule,
          (schedule, runs) -> csv(schedule, false));
  private static final Kind CSV_TRANSFERS =
      new Kind(
          "--csv-transfers", "", ScheduleCsv::isSchedule, (schedule, runs) -> csv(schedule, true));
  private static final Kind SVG =
      new Kind(
          "--svg",
          "schedule.svg",
          file -> begins(file, "<title>schedule "),
          (schedule, runs) -> whole(TimelineSvg.of("schedule", drawable(runs))));
  private static final Kind HTML =
      new Kind(
          "--html",
          "report.html",
          file -> begins(file, "<meta name=\"generator\" content=\"Pipewright schedule\">"),
          (schedule, runs) -> page(runs));
  private static final Kind TRACE =
      new Kind(
          "--trace",
          "trace.json",
          file -> begins(file, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":"),
          (schedule, runs) -> trace(runs));
  private static final List<Kind> IN_FOLDER = List.of(CSV, SVG, HTML, TRACE);

  private static final String JSON = "schedule.json";

  private final Map<Kind, Path> paths = new LinkedHashMap<>();
  private final @Nullable OutputFolder folder;

  /** Where files are wanted; throws where one must not be written. */
  public ScheduleFiles(
      @Nullable Path csv,
      @Nullable Path csvTransfers,
      @Nullable Path svg,
      @Nullable Path html,
      @Nullable Path trace,
      @Nullable Path folder) {
    add(CSV, csv);
    add(CSV_TRANSFERS, csvTransfers);
    add(SVG, svg);
    add(HTML, html);
    add(TRACE, trace);
    this.folder = OutputFolder.of(folder, names());
  }

  private static String[] names() {
    List<String> names = new ArrayList<>(List.of(JSON));
    IN_FOLDER.forEach(kind -> names.add(kind.name()));
    return names.toArray(new String[0]);
  }

  /** Nothing is written over a file that is not of the same kind. */
  private void add(Kind kind, @Nullable Path file) {
    if (file == null) {
      return;
    }
    OutputFile.check(kind.option(), file, kind.ours());
    for (Map.Entry<Kind, Path> other : paths.entrySet()) {
      if (other.getValue().normalize().equals(file.normalize())) {
        throw new BadInputException(
            "%s, %s: name one file; name several"
                .formatted(other.getKey().option(), kind.option()));
      }
    }
    if (kind.equals(SVG)) {
      OutputFile.checkEnding(kind.option(), file, ".svg");
    }
    paths.put(kind, file);
  }

  /** Whether one of the first lines begins so. */
  private static boolean begins(Path file, String mark) {
    try (InputStream in = Files.newInputStream(file)) {
      String head = new String(in.readNBytes(HEAD), StandardCharsets.UTF_8);
      return head.lines().limit(HEAD_LINES).anyMatch(line -> line.startsWith(mark));
    } catch (IOException e) {
      return false; // not even readable
    }
  }

  private static Text csv(Schedule schedule, boolean transfers) {
    return whole(transfers ? ScheduleCsv.textWithTransfers(schedule) : ScheduleCsv.text(schedule));
  }

  private static Text whole(String text) {
    return out -> out.append(text);
  }

  private static Runs drawable(Runs runs) {
    if (runs.slices() > MOST_DRAWN) {
      throw tooMany(runs.slices(), "picture can show", MOST_DRAWN);
    }
    return runs;
  }

  private static Text page(Runs runs) {
    if (runs.slices() > MOST_TRACED) {
      throw tooMany(runs.slices(), "page can show", MOST_TRACED);
    }
    return out -> ScheduleHtml.write(runs, out);
  }

  private static Text trace(Runs runs) {
    Shown first = runs.first();
    if (first.slices() > MOST_TRACED) {
      throw tooMany(first.slices(), "trace can hold", MOST_TRACED);
    }
    if (first.makespan() > MOST_SECONDS) {
      throw new BadInputException(
          "%s s are more than a trace can count in nanoseconds; take times below %s s in all"
              .formatted(Numbers.plain(first.makespan()), Numbers.plain(MOST_SECONDS)));
    }
    return out -> PerfettoTrace.write(runs.title(), first.timeline(), out);
  }

  private static BadInputException tooMany(long passes, String what, long most) {
    return new BadInputException(
        "%d passes are more than a %s; take at most %d".formatted(passes, what, most));
  }

  /** What is to be written. */
  public record Made(Map<Path, Text> files, Map<String, Text> inFolder, List<String> remarks) {}

  /** Makes the texts of all files; what a folder cannot have is left out with a remark. */
  Made make(Schedule schedule, Runs runs, Supplier<String> json) {
    Made made = new Made(new LinkedHashMap<>(), new LinkedHashMap<>(), new ArrayList<>());
    paths.forEach((kind, path) -> made.files().put(path, text(kind, schedule, runs)));
    if (folder != null) {
      made.inFolder().put(JSON, whole(json.get()));
      for (Kind kind : IN_FOLDER) {
        try {
          made.inFolder().put(kind.name(), kind.text().apply(schedule, runs));
        } catch (BadInputException e) {
          made.remarks().add("left out " + kind.name() + ": " + e.getMessage());
        }
      }
    }
    return made;
  }

  private static Text text(Kind kind, Schedule schedule, Runs runs) {
    try {
      return kind.text().apply(schedule, runs);
    } catch (BadInputException e) {
      throw new BadInputException(kind.option() + ": " + e.getMessage());
    }
  }

  /** Writes them; returns a line about each. */
  List<String> write(Made made) {
    List<String> lines = new ArrayList<>();
    made.files()
        .forEach((file, text) -> {
          OutputFile.write(file, text);
          lines.add("wrote " + file);
        });
    if (folder != null) {
      made.inFolder().forEach(folder::write);
      lines.add("wrote " + String.join(", ", made.inFolder().keySet()) + " to " + folder);
      for (Kind kind : IN_FOLDER) {
        if (!made.inFolder().containsKey(kind.name()) && folder.remove(kind.name())) {
          lines.add("removed " + kind.name() + " of an earlier run from " + folder);
        }
      }
    }
    lines.addAll(made.remarks());
    return lines;
  }

  @Override
  public void close() {
    if (folder != null) {
      folder.close();
    }
  }
}
