package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.StageCost;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/** The tables of a report. */
final class Tables {
  private Tables() {}

  /** The stages of a plan. Recomputation has a column where a stage recomputes. */
  static Table stages(Candidate candidate, int deviceWidth) {
    PipelinePlan plan = candidate.plan();
    boolean recomputes = recomputes(plan);
    List<Column> columns = StageRows.columns();
    if (plan.dividesLayers()) {
      columns.add(Column.text("parallel"));
    }
    boolean timed = !Double.isNaN(candidate.seconds());
    if (timed) {
      columns.add(Column.number("in\nflight"));
    }
    if (recomputes) {
      columns.add(Column.text("re\u00ad\ncompute"));
    }
    if (timed) {
      columns.add(Column.number("forward"));
      columns.add(Column.number("backward"));
      columns.add(Column.number("send"));
      columns.add(Column.number("all-\nreduce"));
    }
    Assessment costs = candidate.decisive();
    double whole = whole(costs);
    columns.add(Column.text("memory\n" + Numbers.byteUnit(whole)));
    List<StageRows.Stage> stages = new ArrayList<>();
    for (int i = 0; i < plan.stages().size(); i++) {
      stages.add(stage(plan, i, costs, timed, whole));
    }
    return new Table(columns, StageRows.of(stages, deviceWidth));
  }

  private static StageRows.Stage stage(
      PipelinePlan plan, int index, Assessment costs, boolean timed, double whole) {
    StagePlan stage = plan.stages().get(index);
    StageCost cost = costs.stages().get(index);
    PeakMemory memory = costs.memory().get(index);
    List<Cell> times =
        !timed
            ? List.of()
            : List.of(
                Cell.seconds(cost.forwardSeconds()),
                Cell.seconds(cost.backwardSeconds()),
                Cell.seconds(cost.sendSeconds()),
                Cell.seconds(cost.allReduceSeconds()));
    List<Cell> rest = new ArrayList<>();
    if (plan.dividesLayers()) {
      rest.add(Cell.of(parallel(stage)));
    }
    if (timed) {
      rest.add(Cell.of(Integer.toString(stage.inFlight())));
    }
    if (recomputes(plan)) {
      rest.add(Cell.of(recomputed(stage)));
    }
    rest.addAll(times);
    rest.add(memory(memory, whole));
    List<String> alike = new ArrayList<>(times.stream().map(Cell::text).toList());
    alike.add(recomputed(stage));
    alike.add(stage.parallelism().toString());
    alike.add(memory.capacity().toString());
    return new StageRows.Stage(stage.firstLayer(), stage.lastLayer(), stage.devices(), alike, rest);
  }

  /** {@code tensor ×4}, {@code data ×2, tensor ×4}; a dash for one device. */
  private static String parallel(StagePlan stage) {
    List<String> kinds = new ArrayList<>();
    if (stage.replicas() > 1) {
      kinds.add("data ×" + stage.replicas());
    }
    Parallelism parallelism = stage.parallelism();
    if (parallelism.nested()) {
      boolean experts = parallelism.expertParts() > 1;
      kinds.add(
          experts ? "expert ×" + parallelism.expertParts() : "context ×" + parallelism.copies());
    }
    if (parallelism.several()) {
      kinds.add(parallelism.ofCopy().word() + " ×" + parallelism.pieces());
    }
    return kinds.isEmpty() ? "–" : String.join(", ", kinds);
  }

  private static String recomputed(StagePlan stage) {
    return switch (stage.recompute()) {
      case NONE -> "–";
      case STAGE_INPUT, EXCEPT_LAST -> stage.recompute().word();
      case SELECTIVE -> {
        int again = stage.again().stream().mapToInt(run -> run.last() - run.first() + 1).sum();
        int all = stage.lastLayer() - stage.firstLayer() + 1;
        yield again + " of " + Words.count(all, "layer");
      }
    };
  }

  static boolean recomputes(PipelinePlan plan) {
    for (StagePlan stage : plan.stages()) {
      if (stage.recompute() != Recompute.NONE) {
        return true;
      }
    }
    return false;
  }

  /** The largest capacity or, where there are none, peak: its unit is the column's. */
  private static double whole(Assessment costs) {
    double whole = 0;
    for (PeakMemory memory : costs.memory()) {
      double size = Figure.isLimited(memory) ? memory.capacity().value() : memory.peakBytes();
      whole = Math.max(whole, size);
    }
    return whole;
  }

  private static Cell memory(PeakMemory memory, double whole) {
    String peak = Numbers.bytesIn(memory.peakBytes(), whole);
    if (!Figure.isLimited(memory)) {
      return Cell.of(peak);
    }
    double capacity = memory.capacity().value();
    return new Cell(peak + " / " + Numbers.bytesIn(capacity, whole), memory.peakBytes() / capacity);
  }

  /** The best plan and its rivals, the first {@code most} of them. */
  static Table alternatives(Planning planning, int most, int shapeWidth) {
    List<Column> columns = new ArrayList<>();
    columns.add(Column.text("plan"));
    columns.add(Column.text("layers × devices"));
    columns.add(Column.text("schedule"));
    columns.add(Column.number("micro-\nbatches"));
    columns.add(Column.number("estimate"));
    columns.add(Column.number("simulated"));
    columns.add(Column.number("against\nbest"));
    columns.add(Column.number("peak\nmemory"));
    List<List<Cell>> rows = new ArrayList<>();
    for (int rank = 0; rank < Math.min(most, planning.candidates().size()); rank++) {
      rows.add(alternative(planning, rank, shapeWidth));
    }
    return new Table(columns, rows);
  }

  private static List<Cell> alternative(Planning planning, int rank, int shapeWidth) {
    Candidate candidate = planning.candidates().get(rank);
    PipelinePlan plan = candidate.plan();
    String simulated = "–";
    if (candidate.simulated().isPresent()) {
      simulated = Units.seconds(candidate.simulated().get().stepSeconds());
    }
    return Table.row(
        Cell.of(candidate.kind()),
        Cell.of(Words.shape(plan, shapeWidth)),
        Cell.of(plan.spec().scheduleName()),
        Cell.of(plan.microBatches() + " × " + plan.microBatch()),
        seconds(candidate.estimate().stepSeconds()),
        Cell.of(simulated),
        Cell.of(against(planning, rank)),
        Cell.of(peak(candidate.decisive())));
  }

  private static Cell seconds(double seconds) {
    return Double.isNaN(seconds) ? Cell.of("–") : Cell.seconds(seconds);
  }

  /** How much larger a candidate's objective is than the best's, by rank from 0: {@code +4.6 %}. */
  static String against(Planning planning, int rank) {
    if (planning.best().isEmpty()) {
      return "–";
    }
    if (rank == 0) { // candidates are in order; records' equals would load slowly
      return "best";
    }
    double best = planning.value();
    double value = planning.objective().of(planning.candidates().get(rank));
    if (best <= 0) {
      return "–";
    }
    String change = Numbers.change(value / best - 1);
    return change.equals(Numbers.change(0)) ? "equal" : change;
  }

  private static String peak(Assessment assessment) {
    double peak = assessment.peakBytes();
    return assessment.fits() ? Numbers.bytes(peak) : "! " + Numbers.bytes(peak);
  }

  /** Whether one of the shown plans carries the mark of not fitting. */
  static boolean marksAny(Planning planning, int most) {
    for (int i = 0; i < Math.min(most, planning.candidates().size()); i++) {
      if (!planning.candidates().get(i).decisive().fits()) {
        return true;
      }
    }
    return false;
  }
}
