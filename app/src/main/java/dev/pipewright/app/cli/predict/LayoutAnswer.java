package dev.pipewright.app.cli.predict;

import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.study.LayoutSvg;
import dev.pipewright.app.report.text.FigureLine;
import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.WordTable;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.oracle.PredictedRunsJson;
import dev.pipewright.formats.oracle.PredictedRunsJson.Row;
import dev.pipewright.predict.transformer.PassSeconds;
import dev.pipewright.predict.transformer.PredictedRun;
import dev.pipewright.predict.transformer.RunChoices;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TransformerPhases;
import dev.pipewright.predict.transformer.TransformerPrediction;
import dev.pipewright.predict.transformer.TransformerRankBytes;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The predicted step of a transformer's stated layout, for a terminal and as JSON. */
final class LayoutAnswer {
  /** The names of the files that {@link #write} makes. */
  static final String[] FILES = {"prediction.json", "time.svg", "memory.svg"};

  private static final double LEAST_SHARE = 5e-4; // of a step, to be listed
  private static final int MOST_STAGES = 16; // listed one by one

  private final String model;
  private final String cluster;
  private final List<Row> rows;

  /**
   * @param model as the user named it
   * @param cluster likewise
   * @param rows one for each number of devices, at least one
   */
  LayoutAnswer(String model, String cluster, List<Row> rows) {
    this.model = model;
    this.cluster = cluster;
    this.rows = List.copyOf(rows);
  }

  String json() {
    return PredictedRunsJson.text(model, cluster, rows);
  }

  void write(OutputFolder files) {
    String subject = model + " on " + cluster;
    List<PredictedRun> runs = rows.stream().map(Row::predicted).toList();
    files.write("prediction.json", json());
    files.write("time.svg", LayoutSvg.time(runs, subject));
    files.write("memory.svg", LayoutSvg.memory(runs.get(runs.size() - 1), subject));
  }

  /** The answer for a terminal: a line for each number of devices, then the last in detail. */
  String text() {
    StringBuilder out = new StringBuilder();
    if (rows.size() > 1) {
      out.append(overview()).append('\n');
    }
    Row last = rows.get(rows.size() - 1);
    figures(out, last);
    out.append('\n').append(seconds(last.predicted().step()));
    out.append('\n').append(memory(last.predicted()));
    return out.toString();
  }

  private String overview() {
    WordTable table = new WordTable().numbers("devices").text("layout");
    table.numbers("step", "tokens/s\nper device", "MFU", "memory").text("fits");
    for (Row row : rows) {
      PredictedRun run = row.predicted();
      table.row(
          Numbers.grouped(run.run().layout().devices()),
          LayoutWords.degrees(run.run().layout()),
          Units.seconds(run.step().iterationSeconds()),
          Numbers.rate(run.tokensPerSecondAndDevice()),
          Units.percent(run.utilization()),
          Numbers.bytes(run.step().worst().total()),
          fits(run.step()));
    }
    return table.in(Terminal.columns(), Terminal.colours());
  }

  private static String fits(TransformerPrediction step) {
    return step.fits() ? step.tight() ? "tight" : "yes" : "no";
  }

  private void figures(StringBuilder out, Row row) {
    rates(out, row.predicted());
    row.cost().tokens().ifPresent(tokens -> line(out, "training", training(row, tokens)));
    choices(out, row.choices());
    fullest(out, row);
  }

  private static void rates(StringBuilder out, PredictedRun predicted) {
    TransformerPrediction step = predicted.step();
    line(
        out,
        "step",
        "%s, %s to %s in 9 of 10 runs%s"
            .formatted(
                Units.seconds(step.iterationSeconds()),
                Units.seconds(step.shortestSeconds()),
                Units.seconds(step.longestSeconds()),
                LayoutWords.coverage(step.coverage())));
    line(
        out,
        "throughput",
        "%s tokens/s, %s per device; %s of the model per device, MFU %s"
            .formatted(
                Numbers.rate(predicted.tokensPerSecond()),
                Numbers.rate(predicted.tokensPerSecondAndDevice()),
                Units.decimal(predicted.flopsPerDevice(), "FLOP/s"),
                Units.percent(predicted.utilization())));
  }

  private static void choices(StringBuilder out, RunChoices choices) {
    TrainingLayout layout = choices.layout();
    line(
        out,
        "layout",
        "%s on %s%s%s%s"
            .formatted(
                LayoutWords.degrees(layout),
                Words.count(layout.devices(), "device"),
                layout.sequenceParallel() ? ", sequence parallel" : "",
                choices.schedule().map(name -> ", schedule " + name).orElse(""),
                layout.data() * layout.context() > 1 ? ", ZeRO " + LayoutWords.zero(layout) : ""));
    line(
        out,
        "batch",
        "%s of %s tokens; %s of %s per rank"
            .formatted(
                Words.count(layout.globalBatch(), "sequence"),
                Numbers.grouped(choices.shape().sequence()),
                Words.count(layout.microBatches(), "micro-batch"),
                Numbers.grouped(layout.microBatch())));
    line(
        out,
        "precision",
        "%s, adam; %s, %s attention"
            .formatted(
                choices.precision().word(),
                choices.framework().word(),
                choices.fusedAttention() ? "fused" : "standard"));
  }

  private static void fullest(StringBuilder out, Row row) {
    TransformerPrediction step = row.predicted().step();
    RunChoices choices = row.choices();
    line(
        out,
        "memory",
        "%s of %s on %s%s"
            .formatted(
                Numbers.bytes(step.worst().total()),
                Numbers.bytes(choices.machine().usableBytes()),
                choices.layout().pipeline() == 1
                    ? "each device"
                    : "devices of stage " + step.worstRank(),
                step.fits()
                    ? step.tight() ? "; little is left, and such runs are often slower" : ""
                    : ": does not fit"));
    if (step.hostBytes() > 0) {
      line(out, "host", Numbers.bytes(step.hostBytes()) + " of its memory for each device");
    }
  }

  private static void line(StringBuilder out, String label, String value) {
    FigureLine.append(out, new Ink(Terminal.colours()), Terminal.columns(), label, value);
  }

  private static String training(Row row, double tokens) {
    PredictedRun run = row.predicted();
    StringBuilder text = new StringBuilder();
    text.append(Units.significant(run.days(tokens))).append(" days for ");
    text.append(Units.decimal(tokens, "").strip()).append(" tokens, ");
    text.append(Numbers.rate(run.deviceHours(tokens))).append(" device-hours");
    row.cost().price(run).ifPresent(price -> text.append(", price ").append(Numbers.rate(price)));
    return text.toString();
  }

  /** Seconds of the step by phase, without those that take none. */
  private static String seconds(TransformerPrediction step) {
    TransformerPhases phases = step.phases();
    PassSeconds layers = phases.layers();
    Map<String, Double> parts = new LinkedHashMap<>();
    parts.put("matrix products of layers", layers.products());
    parts.put("attention", layers.attention());
    parts.put("element-wise work", layers.elementwise());
    parts.put("casts", layers.casts());
    parts.put("tensor-parallel exchange", layers.tensorParallel());
    parts.put("context-parallel exchange", layers.contextParallel());
    parts.put("all-to-all of experts", layers.allToAll());
    parts.put("launching kernels", layers.launch());
    parts.put("recomputation", phases.recomputation());
    parts.put("embedding, head and loss", phases.ends());
    parts.put("offloading", phases.offload());
    parts.put("pipeline bubble", phases.bubble());
    parts.put("transfers between stages", phases.transfers());
    parts.put("gathering and scattering shards", phases.sharding());
    parts.put("data-parallel exchange", phases.dataParallel());
    parts.put("optimizer", phases.optimizer());
    parts.put("stragglers", phases.stragglers());
    parts.put("launch and logging of a step", phases.fixed());
    WordTable table = new WordTable().text("exposed time").numbers("seconds", "share");
    parts.forEach((name, seconds) -> {
      if (seconds > LEAST_SHARE * phases.total()) {
        table.row(name, Units.seconds(seconds), Units.percent(seconds / phases.total()));
      }
    });
    return table.in(Terminal.columns(), Terminal.colours());
  }

  /** What each stage holds; the first, the fullest and the last of many. */
  private static String memory(PredictedRun predicted) {
    List<TransformerRankBytes> ranks = predicted.step().ranks();
    WordTable table = new WordTable().numbers("stage", "layers", "state", "activations");
    table.numbers("working\nset", "logits,\nembedding", "libraries", "total");
    for (int rank : shown(ranks.size(), predicted.step().worstRank())) {
      TransformerRankBytes bytes = ranks.get(rank);
      table.row(
          rank,
          layers(predicted, rank),
          Numbers.bytes(bytes.state()),
          Numbers.bytes(bytes.activations()),
          Numbers.bytes(bytes.workingSet()),
          Numbers.bytes(bytes.logits() + bytes.embedding()),
          Numbers.bytes(bytes.workspace()),
          Numbers.bytes(bytes.total()));
    }
    return table.in(Terminal.columns(), Terminal.colours());
  }

  private static List<Integer> shown(int stages, int worst) {
    List<Integer> shown = new ArrayList<>();
    for (int stage = 0; stage < stages; stage++) {
      if (stages <= MOST_STAGES || stage == 0 || stage == worst || stage == stages - 1) {
        shown.add(stage);
      }
    }
    return shown;
  }

  private static int layers(PredictedRun predicted, int rank) {
    var chunks = predicted.run().split().chunks();
    int layers = 0;
    for (int chunk = 0; chunk < chunks.size(); chunk++) {
      layers += predicted.run().split().rank(chunk) == rank ? chunks.get(chunk).layers() : 0;
    }
    return layers;
  }

  /** Why nothing fits; empty where something does. */
  Optional<String> nothingFits() {
    if (rows.stream().anyMatch(row -> row.predicted().step().fits())) {
      return Optional.empty();
    }
    Row last = rows.get(rows.size() - 1);
    TransformerPrediction step = last.predicted().step();
    return Optional.of(
        "does not fit: stage %d needs %s of %s; raise --tensor, --pipeline or --zero, or recompute more (--recompute full)"
            .formatted(
                step.worstRank(),
                Numbers.bytes(step.worst().total()),
                Numbers.bytes(last.choices().machine().usableBytes())));
  }
}
