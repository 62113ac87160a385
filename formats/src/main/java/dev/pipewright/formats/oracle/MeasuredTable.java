package dev.pipewright.formats.oracle;

import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.predict.transformer.TransformerRun;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The measured steps of a table: rows with {@code iteration_s}. A row whose column {@code unknown}
 * says that only recomputation is not known has a quarter of the weight; one that leaves more open
 * is left out.
 *
 * @param steps that can be fitted to, in the order of the rows
 * @param rows those rows
 */
public record MeasuredTable(List<MeasuredStep> steps, List<TrainingRow> rows) {
  private static final double WEIGHT_OF_UNKNOWN = 0.25;
  private static final Pattern PROXY = Pattern.compile("-proxy.*");

  public MeasuredTable {
    steps = List.copyOf(steps);
    rows = List.copyOf(rows);
  }

  /**
   * The steps of a table.
   *
   * @throws dev.pipewright.formats.file.BadInputException at the first row that describes no run,
   *     or whose seconds are missing or not positive
   */
  public static MeasuredTable of(TrainingTable table, MachineSheets machines) {
    TrainingRuns runs = new TrainingRuns(machines);
    List<MeasuredStep> steps = new ArrayList<>();
    List<TrainingRow> rows = new ArrayList<>();
    for (TrainingRow row : table.rows()) {
      String unknown = row.text("unknown");
      if (!unknown.isEmpty() && !unknown.equals("recompute")) {
        continue;
      }
      TransformerRun run = runs.of(row);
      if (!row.isFilled("iteration_s")) {
        throw row.wrong("iteration_s", "iteration_s is empty; write the seconds of a step");
      }
      double seconds = row.number("iteration_s", Double.NaN);
      steps.add(
          row.checked(
              "iteration_s",
              () ->
                  new MeasuredStep(
                      row.id(),
                      group(row, run),
                      run,
                      seconds,
                      unknown.isEmpty() ? 1 : WEIGHT_OF_UNKNOWN)));
      rows.add(row);
    }
    return new MeasuredTable(steps, rows);
  }

  /** Network and machine; shortened copies of a network ({@code NAME-proxy…}) count as it. */
  private static String group(TrainingRow row, TransformerRun run) {
    String model = PROXY.matcher(row.text("model")).replaceFirst("");
    return (model.isEmpty() ? "h" + run.shape().hidden() : model) + " | " + run.machine().name();
  }
}
