package dev.pipewright.formats.oracle;

import dev.pipewright.formats.json.JsonText;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.PassSeconds;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerPhases;
import dev.pipewright.predict.transformer.TransformerPrediction;
import dev.pipewright.predict.transformer.TransformerRankBytes;
import dev.pipewright.predict.transformer.TransformerRun;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The rows of a table with their predictions; writes the answer of {@code predict --table} as JSON,
 * or as the table with further columns.
 */
public final class PredictedTable {
  private static final List<String> COLUMNS =
      List.of(
          "predicted_iteration_s",
          "predicted_low_s",
          "predicted_high_s",
          "predicted_memory_bytes",
          "predicted_logged_rank_bytes",
          "predicted_fits");

  private final TrainingTable table;
  private final List<TransformerPrediction> predictions;

  private PredictedTable(TrainingTable table, List<TransformerPrediction> predictions) {
    this.table = table;
    this.predictions = predictions;
  }

  /**
   * Predicts every row.
   *
   * @throws dev.pipewright.formats.file.BadInputException at the first row that describes no run
   */
  public static PredictedTable of(TrainingTable table) {
    return of(table, CalibratedConstantsJson.read());
  }

  /** The same with {@code constants} instead of the shipped ones. */
  public static PredictedTable of(TrainingTable table, CalibratedConstants constants) {
    TrainingRuns runs = new TrainingRuns(MachineSheets.read());
    List<TransformerPrediction> predictions = new ArrayList<>();
    for (TrainingRow row : table.rows()) {
      TransformerRun run = runs.of(row);
      predictions.add(row.checked("machine", () -> TransformerOracle.predict(run, constants)));
    }
    return new PredictedTable(table, predictions);
  }

  /** One object; seconds and bytes are plain numbers. */
  public String json() {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (int i = 0; i < predictions.size(); i++) {
      rows.add(row(table.rows().get(i).id(), predictions.get(i)));
    }
    return JsonText.of(Map.of("rows", rows));
  }

  private static Map<String, Object> row(String id, TransformerPrediction predicted) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("id", id);
    row.put("iteration_s", predicted.iterationSeconds());
    row.put("interval_s", List.of(predicted.shortestSeconds(), predicted.longestSeconds()));
    row.put("calibration", predicted.coverage().name().toLowerCase(Locale.ROOT));
    row.put("memory_bytes", Math.round(predicted.worst().total()));
    row.put("logged_rank_bytes", Math.round(predicted.logged().total()));
    row.put("fits", predicted.fits());
    row.put("tight", predicted.tight());
    row.put("phases", phases(predicted.phases()));
    row.put("memory", memory(predicted.worst()));
    return row;
  }

  private static Map<String, Object> phases(TransformerPhases phases) {
    Map<String, Object> object = new LinkedHashMap<>();
    PassSeconds layers = phases.layers();
    object.put("products_s", layers.products());
    object.put("attention_s", layers.attention());
    object.put("elementwise_s", layers.elementwise());
    object.put("casts_s", layers.casts());
    object.put("tensor_parallel_s", layers.tensorParallel());
    object.put("all_to_all_s", layers.allToAll());
    object.put("launch_s", layers.launch());
    object.put("recomputation_s", phases.recomputation());
    object.put("ends_s", phases.ends());
    object.put("offload_s", phases.offload());
    object.put("bubble_s", phases.bubble());
    object.put("transfers_s", phases.transfers());
    object.put("sharding_s", phases.sharding());
    object.put("data_parallel_s", phases.dataParallel());
    object.put("optimizer_s", phases.optimizer());
    object.put("stragglers_s", phases.stragglers());
    object.put("fixed_s", phases.fixed());
    return object;
  }

  private static Map<String, Object> memory(TransformerRankBytes bytes) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("state_bytes", Math.round(bytes.state()));
    object.put("activations_bytes", Math.round(bytes.activations()));
    object.put("working_set_bytes", Math.round(bytes.workingSet()));
    object.put("logits_bytes", Math.round(bytes.logits()));
    object.put("embedding_bytes", Math.round(bytes.embedding()));
    object.put("workspace_bytes", Math.round(bytes.workspace()));
    return object;
  }

  /** The table as it was read, with the predicted columns at its end. */
  public String csv() {
    StringBuilder text = new StringBuilder();
    List<String> headings = new ArrayList<>(table.headings());
    headings.addAll(COLUMNS);
    line(text, headings);
    for (int i = 0; i < predictions.size(); i++) {
      TransformerPrediction predicted = predictions.get(i);
      List<String> cells = new ArrayList<>(table.rows().get(i).cells());
      cells.add(Double.toString(predicted.iterationSeconds()));
      cells.add(Double.toString(predicted.shortestSeconds()));
      cells.add(Double.toString(predicted.longestSeconds()));
      cells.add(Long.toString(Math.round(predicted.worst().total())));
      cells.add(Long.toString(Math.round(predicted.logged().total())));
      cells.add(predicted.fits() ? "1" : "0");
      line(text, cells);
    }
    return text.toString();
  }

  private static void line(StringBuilder text, List<String> cells) {
    for (int i = 0; i < cells.size(); i++) {
      String cell = cells.get(i);
      boolean plain = cell.indexOf(',') < 0 && cell.indexOf('"') < 0;
      text.append(i == 0 ? "" : ",").append(plain ? cell : '"' + cell.replace("\"", "\"\"") + '"');
    }
    text.append('\n');
  }
}
