package dev.pipewright.formats.oracle;

import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerPrediction;
import dev.pipewright.predict.transformer.TransformerRun;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
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
    row.putAll(StepMembers.of(predicted));
    return row;
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
