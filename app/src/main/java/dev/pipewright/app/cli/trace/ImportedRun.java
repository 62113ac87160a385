package dev.pipewright.app.cli.trace;

import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.app.report.text.WordTable;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.TimelineText;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.trace.RankShares;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * What a measured run answers.
 *
 * @param head what was read, in a line
 * @param lines what the lines of the timeline are, where they are no ranks
 * @param shares of each rank's typical step
 * @param facts further members of the JSON answer
 * @param notes sentences on what could not be found in the traces
 * @param profile where the traces name layers and samples
 */
record ImportedRun(
    String head,
    Runs runs,
    List<String> lines,
    List<RankShares> shares,
    Map<String, Object> facts,
    List<String> notes,
    Optional<ModelFile> profile,
    List<CollectiveTiming> collectives) {
  private static final double PICOSECONDS = 1e12; // traces say nanoseconds
  private static final int MOST_LAYERS = 20;
  private static final int LONGEST_NAME = 48;

  /** For a terminal. */
  String text(int width, boolean colours) {
    StringBuilder text = new StringBuilder(head).append("\n\n");
    text.append(TimelineText.of(runs, width, colours)).append('\n');
    if (!lines.isEmpty()) {
      WordTable table = new WordTable().numbers("line").text("shows");
      for (int i = 0; i < lines.size(); i++) {
        table.row(i, lines.get(i));
      }
      text.append(table.in(width, colours)).append('\n');
    }
    text.append(table().in(width, colours));
    profile.ifPresent(file -> layers(text, file, width, colours));
    if (!collectives.isEmpty()) {
      text.append('\n').append(exchanges().in(width, colours));
    }
    return text.toString();
  }

  private WordTable table() {
    WordTable table =
        new WordTable().numbers("rank", "step", "busy", "exposed communication", "copies", "idle");
    for (RankShares rank : shares) {
      table.row(
          rank.rank(),
          Units.seconds(rank.seconds()),
          share(rank.busy(), rank),
          share(rank.exposed(), rank),
          share(rank.copies(), rank),
          share(rank.idle(), rank));
    }
    return table;
  }

  private static String share(double seconds, RankShares rank) {
    return Units.percent(rank.seconds() == 0 ? 0 : seconds / rank.seconds());
  }

  /** The layers that take most of the time, in their order. */
  private static void layers(StringBuilder text, ModelFile file, int width, boolean colours) {
    List<LayerTimes> times = file.profile().times(0);
    List<Integer> longest =
        IntStream.range(0, times.size())
            .boxed()
            .sorted(Comparator.comparingDouble(i -> -seconds(times.get(i))))
            .limit(MOST_LAYERS)
            .sorted()
            .toList();
    WordTable table = new WordTable().text("layer").numbers("forward", "backward", "update");
    for (int i : longest) {
      String name = file.graph().layer(i).name();
      table.row(
          TextWidth.cut(name, LONGEST_NAME),
          Units.seconds(times.get(i).forward()),
          Units.seconds(times.get(i).backward()),
          Units.seconds(times.get(i).update()));
    }
    text.append('\n').append(table.in(width, colours));
    int more = times.size() - longest.size();
    if (more > 0) {
      double all = times.stream().mapToDouble(ImportedRun::seconds).sum();
      double shown = longest.stream().mapToDouble(i -> seconds(times.get(i))).sum();
      text.append("  and ").append(Words.count(more, "layer")).append(" with ");
      text.append(Units.percent(1 - shown / all)).append(" of the time\n");
    }
  }

  private static double seconds(LayerTimes times) {
    return times.forward() + times.backward() + times.update();
  }

  private WordTable exchanges() {
    WordTable table = new WordTable().text("collective").numbers("devices", "size", "time");
    for (CollectiveTiming timing : collectives) {
      table.row(
          word(timing),
          timing.devices(),
          Units.binary(timing.bytes(), "B"),
          Units.seconds(timing.seconds()));
    }
    return table;
  }

  private static String word(CollectiveTiming timing) {
    return timing.kind().name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The collectives as {@code calibrate} reads them. */
  String collectivesCsv() {
    StringBuilder text = new StringBuilder("collective,devices,bytes,seconds\n");
    for (CollectiveTiming timing : collectives) {
      text.append(timing.kind().name().toLowerCase(Locale.ROOT));
      text.append(',').append(timing.devices()).append(',');
      double seconds = Math.round(PICOSECONDS * timing.seconds()) / PICOSECONDS;
      text.append(Units.plain(timing.bytes())).append(',').append(seconds).append('\n');
    }
    return text.toString();
  }

  /** The answer as one object. */
  String json() {
    Map<String, Object> object = new LinkedHashMap<>(facts);
    List<Object> ranks = new ArrayList<>();
    for (RankShares rank : shares) {
      Map<String, Object> of = new LinkedHashMap<>();
      of.put("rank", rank.rank());
      of.put("step_s", rank.seconds());
      of.put("busy_s", rank.busy());
      of.put("exposed_communication_s", rank.exposed());
      of.put("copies_s", rank.copies());
      of.put("idle_s", rank.idle());
      ranks.add(of);
    }
    object.put("ranks", ranks);
    List<Object> timings = new ArrayList<>();
    for (CollectiveTiming timing : collectives) {
      Map<String, Object> of = new LinkedHashMap<>();
      of.put("collective", word(timing));
      of.put("devices", timing.devices());
      of.put("bytes", timing.bytes());
      of.put("seconds", timing.seconds());
      timings.add(of);
    }
    object.put("collectives", timings);
    profile.ifPresent(file -> object.put("layers", file.graph().size()));
    object.put("notes", notes);
    return JsonText.of(object);
  }
}
