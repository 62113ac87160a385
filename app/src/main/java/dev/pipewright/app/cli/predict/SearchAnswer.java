package dev.pipewright.app.cli.predict;

import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.study.FastestLayoutsSvg;
import dev.pipewright.app.report.study.LayoutFrontSvg;
import dev.pipewright.app.report.text.FigureLine;
import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.WordTable;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.oracle.SearchedLayoutsJson;
import dev.pipewright.formats.oracle.SearchedLayoutsJson.Search;
import dev.pipewright.formats.oracle.StatedSplit;
import dev.pipewright.predict.pipeline.ScheduledLayout;
import dev.pipewright.predict.transformer.PredictedRun;
import dev.pipewright.predict.transformer.StageSplit;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.search.HeatCell;
import dev.pipewright.predict.transformer.search.LayoutSurvey;
import dev.pipewright.predict.transformer.search.RankedLayout;
import dev.pipewright.predict.transformer.search.ScaleFront;
import dev.pipewright.predict.transformer.search.SearchCount;
import dev.pipewright.predict.transformer.search.SearchSpace;
import dev.pipewright.predict.transformer.search.SearchedLayout;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a search of a transformer's layouts found, for a terminal and as JSON. */
final class SearchAnswer {
  /** The names of the files that {@link #write} makes. */
  static final String[] FILES = {"search.json", "front.svg", "fastest.svg"};

  private static final int MOST_OF_FRONT = 12; // listed

  private final String model;
  private final String cluster;
  private final List<Search> searches;
  private final Search last;

  /**
   * @param model as the user named it
   * @param cluster likewise
   * @param searches one for each number of devices, at least one
   */
  SearchAnswer(String model, String cluster, List<Search> searches) {
    this.model = model;
    this.cluster = cluster;
    this.searches = List.copyOf(searches);
    this.last = searches.get(searches.size() - 1);
  }

  String json() {
    return SearchedLayoutsJson.text(model, cluster, searches);
  }

  void write(OutputFolder files) {
    String subject = model + " on " + cluster;
    files.write("search.json", json());
    files.write("front.svg", LayoutFrontSvg.of(surveys(), subject));
    files.write("fastest.svg", FastestLayoutsSvg.of(last.survey(), subject));
  }

  private List<LayoutSurvey> surveys() {
    return searches.stream().map(Search::survey).toList();
  }

  /** The answer for a terminal: the best on each number of devices, then the last in detail. */
  String text() {
    StringBuilder out = new StringBuilder();
    if (searches.size() > 1) {
      WordTable table = table(true);
      for (Search search : searches) {
        if (!search.best().isEmpty()) {
          row(table, search, 0, true);
        }
      }
      out.append(table.in(Terminal.columns(), Terminal.colours())).append('\n');
    }
    figures(out);
    if (last.best().isEmpty()) {
      return out.toString();
    }
    WordTable table = table(false);
    for (int i = 0; i < last.best().size(); i++) {
      row(table, last, i, false);
    }
    out.append('\n').append(table.in(Terminal.columns(), Terminal.colours()));
    out.append('\n').append(front());
    out.append('\n').append(fastest());
    return out.toString();
  }

  private void figures(StringBuilder out) {
    SearchSpace space = last.survey().space();
    SearchCount count = last.survey().count();
    line(
        out,
        "searched",
        "%s on %s in %s; %s do not fit into %s"
            .formatted(
                Words.count(count.valid(), "layout"),
                Words.count(space.devices(), "device"),
                Units.seconds(last.seconds()),
                Numbers.grouped(count.unfit()),
                Numbers.bytes(space.machine().usableBytes())));
    line(
        out,
        "batch",
        "%s of %s tokens"
            .formatted(
                Words.count(space.globalBatch(), "sequence"),
                Numbers.grouped(space.shape().sequence())));
    line(
        out,
        "precision",
        "%s, adam; %s, %s attention"
            .formatted(
                space.precision().word(),
                space.framework().word(),
                space.fusedAttention() ? "fused" : "standard"));
    if (!last.best().isEmpty()) {
      PredictedRun best = last.best().get(0).run();
      line(
          out,
          "best step",
          "%s, %s to %s in 9 of 10 runs%s"
              .formatted(
                  Units.seconds(best.step().iterationSeconds()),
                  Units.seconds(best.step().shortestSeconds()),
                  Units.seconds(best.step().longestSeconds()),
                  LayoutWords.coverage(best.step().coverage())));
      TrainingLayout layout = best.run().layout();
      Optional<StageSplit> split = space.split(layout.pipeline(), layout.interleave());
      if (split.isPresent()) {
        line(out, "its layers", "--pipeline-layout " + StatedSplit.text(split.get()));
      }
      if (last.best().size() > 1 && !last.distinct(1)) {
        line(
            out,
            "~",
            "cannot be distinguished from the best: errors of 9 of 10 pairs of layouts differ by up to "
                + Units.percent(last.close() - 1));
      }
    }
  }

  private static void line(StringBuilder out, String label, String value) {
    FigureLine.append(out, new Ink(Terminal.colours()), Terminal.columns(), label, value);
  }

  private static WordTable table(boolean devices) {
    WordTable table = devices ? new WordTable().numbers("devices") : new WordTable();
    table.text("layout", "schedule").numbers("micro-\nbatch").text("recompute").numbers("ZeRO");
    return table
        .numbers("offloaded\nlayers", "step", "tokens/s\nper device", "MFU", "memory")
        .text("tight");
  }

  private static void row(WordTable table, Search search, int at, boolean devices) {
    ScheduledLayout scheduled = search.best().get(at);
    SearchedLayout searched = scheduled.searched();
    PredictedRun run = scheduled.run();
    List<Object> cells = new ArrayList<>();
    if (devices) {
      cells.add(Numbers.grouped(searched.layout().devices()));
    }
    cells.add(degrees(searched.layout()));
    cells.add(searched.layout().pipeline() > 1 ? scheduled.schedule() : "–");
    cells.add(searched.layout().microBatch());
    cells.add(searched.recompute().word());
    cells.add(LayoutWords.zero(searched.layout()));
    cells.add(searched.offloadedLayers());
    String step = Units.seconds(run.step().iterationSeconds());
    cells.add(at > 0 && !search.distinct(at) ? "~ " + step : step);
    cells.add(Numbers.rate(run.tokensPerSecondAndDevice()));
    cells.add(Units.percent(run.utilization()));
    cells.add(Numbers.bytes(run.step().worst().total()));
    cells.add(run.step().tight() ? "yes" : "no");
    table.row(cells.toArray());
  }

  /** {@code t8 p8 d2 sp}: with whether tensor parallelism shares the sequence. */
  private static String degrees(TrainingLayout layout) {
    return LayoutWords.degrees(layout) + (layout.sequenceParallel() ? " sp" : "");
  }

  /** Layouts that no other excels, evenly taken where there are many. */
  private String front() {
    List<RankedLayout> front = ScaleFront.of(surveys());
    WordTable table = new WordTable().numbers("devices", "step\nof the front", "memory");
    table.text("layout").numbers("micro-\nbatch").text("recompute").numbers("ZeRO");
    table.numbers("offloaded\nlayers");
    int shown = Math.min(front.size(), MOST_OF_FRONT);
    for (int i = 0; i < shown; i++) {
      int at = shown == 1 ? 0 : (int) ((long) i * (front.size() - 1) / (shown - 1));
      RankedLayout ranked = front.get(at);
      SearchedLayout searched = ranked.searched();
      table.row(
          Numbers.grouped(searched.layout().devices()),
          Units.seconds(ranked.seconds()),
          Numbers.bytes(ranked.bytes()),
          degrees(searched.layout()),
          searched.layout().microBatch(),
          searched.recompute().word(),
          LayoutWords.zero(searched.layout()),
          searched.offloadedLayers());
    }
    return table.in(Terminal.columns(), Terminal.colours());
  }

  /** The fastest for each tensor (down) and pipeline degree (across). */
  private String fastest() {
    LayoutSurvey survey = last.survey();
    List<Integer> pipelines = survey.space().values().pipeline();
    WordTable table = new WordTable().text("fastest");
    pipelines.forEach(pipeline -> table.numbers("p" + pipeline));
    int cell = 0;
    for (int tensor : survey.space().values().tensor()) {
      List<Object> cells = new ArrayList<>();
      cells.add("t" + tensor);
      for (int i = 0; i < pipelines.size(); i++) {
        HeatCell here = survey.heat().get(cell++);
        cells.add(here.best().map(one -> Units.seconds(one.seconds())).orElse("–"));
      }
      table.row(cells.toArray());
    }
    return table.in(Terminal.columns(), Terminal.colours());
  }

  /** Why nothing fits; empty where something does. */
  Optional<String> nothingFits() {
    if (searches.stream().anyMatch(search -> !search.best().isEmpty())) {
      return Optional.empty();
    }
    return Optional.of(
        "none of %s fits into %s; give more --devices, or degrees less narrowly"
            .formatted(
                Words.count(last.survey().count().valid(), "layout"),
                Numbers.bytes(last.survey().space().machine().usableBytes())));
  }
}
