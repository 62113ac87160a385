package dev.pipewright.app.report;

import dev.pipewright.app.report.Table.Cell;
import dev.pipewright.app.report.Table.Column;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.plan.Plan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/** The tables of a report. */
final class Tables {
  private static final int FEWEST_FOLDED = 4; // stages

  private Tables() {}

  /** The stages of a plan. Recomputation has a column where a stage recomputes. */
  static Table stages(Candidate candidate, int deviceWidth) {
    Plan plan = candidate.plan();
    boolean recomputes = recomputes(plan);
    List<Column> columns = new ArrayList<>();
    columns.add(Column.number("stage"));
    columns.add(Column.number("layers"));
    columns.add(Column.text("devices"));
    columns.add(Column.number("in\nflight"));
    if (recomputes) {
      columns.add(Column.text("re\u00ad\ncompute"));
    }
    columns.add(Column.number("forward"));
    columns.add(Column.number("backward"));
    columns.add(Column.number("send"));
    columns.add(Column.number("all-\nreduce"));
    Assessment costs = Picture.decisive(candidate);
    double whole = whole(costs);
    columns.add(Column.text("memory\n" + Numbers.byteUnit(whole)));
    List<List<Cell>> rows = new ArrayList<>();
    for (int first = 0; first < plan.stages().size(); ) {
      int last = lastAlike(candidate, first);
      List<Cell> row =
          stage(
              first,
              plan.stages().get(first),
              costs.stages().get(first),
              recomputes,
              deviceWidth,
              whole);
      if (last > first) {
        List<Cell> end =
            stage(
                last,
                plan.stages().get(last),
                costs.stages().get(last),
                recomputes,
                deviceWidth,
                whole);
        row = together(plan, first, last, row, end, deviceWidth);
      }
      rows.add(row);
      first = last + 1;
    }
    return new Table(columns, rows);
  }

  /** The last of the stages from one on that take the same time for as many layers and devices. */
  private static int lastAlike(Candidate candidate, int first) {
    int last = first;
    while (last + 1 < candidate.plan().stages().size() && alike(candidate, first, last + 1)) {
      last++;
    }
    return last - first + 1 >= FEWEST_FOLDED ? last : first;
  }

  private static boolean alike(Candidate candidate, int one, int other) {
    StagePlan a = candidate.plan().stages().get(one);
    StagePlan b = candidate.plan().stages().get(other);
    List<StageCost> costs = Picture.decisive(candidate).stages();
    StageCost x = costs.get(one);
    StageCost y = costs.get(other);
    return a.lastLayer() - a.firstLayer() == b.lastLayer() - b.firstLayer()
        && a.devices().size() == b.devices().size()
        && recomputed(a).equals(recomputed(b))
        && x.memory().capacity().equals(y.memory().capacity())
        && same(x.forwardSeconds(), y.forwardSeconds())
        && same(x.backwardSeconds(), y.backwardSeconds())
        && same(x.sendSeconds(), y.sendSeconds())
        && same(x.allReduceSeconds(), y.allReduceSeconds());
  }

  /** Whether two durations are shown alike. */
  private static boolean same(double seconds, double others) {
    return Math.abs(seconds - others) <= 1e-6 * Math.max(seconds, others);
  }

  /** Stages in one row: what differs is said of the first and the last of them. */
  private static List<Cell> together(
      Plan plan, int first, int last, List<Cell> row, List<Cell> end, int deviceWidth) {
    StagePlan from = plan.stages().get(first);
    StagePlan to = plan.stages().get(last);
    List<Integer> devices = new ArrayList<>();
    plan.stages().subList(first, last + 1).forEach(stage -> devices.addAll(stage.devices()));
    List<Cell> folded = new ArrayList<>();
    folded.add(Cell.of(Words.range(first, last)));
    int layers = from.lastLayer() - from.firstLayer() + 1;
    folded.add(Cell.of(Words.range(from.firstLayer(), to.lastLayer()) + each(layers)));
    folded.add(Cell.of(Words.devices(devices, deviceWidth) + each(from.devices().size())));
    for (int i = 3; i < row.size(); i++) {
      String text = row.get(i).text();
      String other = end.get(i).text();
      double bar = Math.max(row.get(i).bar(), end.get(i).bar());
      folded.add(new Cell(text.equals(other) ? text : from(text) + " … " + other, bar));
    }
    return folded;
  }

  /** {@code , 2 each}; nothing where there is one for each. */
  private static String each(int count) {
    return count == 1 ? "" : ", " + count + " each";
  }

  /** Without the capacity, which is the last stage's too. */
  private static String from(String text) {
    int slash = text.indexOf(" / ");
    return slash < 0 ? text : text.substring(0, slash);
  }

  private static List<Cell> stage(
      int number,
      StagePlan stage,
      StageCost cost,
      boolean recomputes,
      int deviceWidth,
      double whole) {
    List<Cell> row = new ArrayList<>();
    row.add(Cell.of(Integer.toString(number)));
    row.add(Cell.of(Words.range(stage.firstLayer(), stage.lastLayer())));
    row.add(Cell.of(Words.devices(stage.devices(), deviceWidth)));
    row.add(Cell.of(Integer.toString(stage.inFlight())));
    if (recomputes) {
      row.add(Cell.of(recomputed(stage)));
    }
    row.add(Cell.seconds(cost.forwardSeconds()));
    row.add(Cell.seconds(cost.backwardSeconds()));
    row.add(Cell.seconds(cost.sendSeconds()));
    row.add(Cell.seconds(cost.allReduceSeconds()));
    row.add(memory(cost.memory(), whole));
    return row;
  }

  private static String recomputed(StagePlan stage) {
    return switch (stage.recompute()) {
      case NONE -> "–";
      case STAGE_INPUT -> stage.recompute().word();
      case SELECTIVE -> {
        int again = stage.again().stream().mapToInt(run -> run.last() - run.first() + 1).sum();
        int all = stage.lastLayer() - stage.firstLayer() + 1;
        yield again + " of " + Words.count(all, "layer");
      }
    };
  }

  static boolean recomputes(Plan plan) {
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
    for (StageCost stage : costs.stages()) {
      StageMemory memory = stage.memory();
      double size = Figure.isLimited(memory) ? memory.capacity().value() : memory.peakBytes();
      whole = Math.max(whole, size);
    }
    return whole;
  }

  private static Cell memory(StageMemory memory, double whole) {
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
    Plan plan = candidate.plan();
    String simulated = "–";
    if (candidate.simulated().isPresent()) {
      simulated = Units.seconds(candidate.simulated().get().stepSeconds());
    }
    return Table.row(
        Cell.of(candidate.kind()),
        Cell.of(Words.shape(plan, shapeWidth)),
        Cell.of(plan.warmUp().schedule()),
        Cell.of(plan.microBatches() + " × " + plan.microBatch()),
        Cell.seconds(candidate.estimate().stepSeconds()),
        Cell.of(simulated),
        Cell.of(against(planning, rank)),
        Cell.of(peak(Picture.decisive(candidate))));
  }

  /** How much slower than the best the candidate of a rank from 0 is: {@code +4.6 %}. */
  static String against(Planning planning, int rank) {
    if (planning.best().isEmpty()) {
      return "–";
    }
    if (rank == 0) { // candidates are in order; records' equals would load slowly
      return "best";
    }
    double best = planning.best().get().seconds();
    double seconds = planning.candidates().get(rank).seconds();
    return best > 0 ? Numbers.change(seconds / best - 1) : "–";
  }

  private static String peak(Assessment assessment) {
    double peak = 0;
    for (StageCost stage : assessment.stages()) {
      peak = Math.max(peak, stage.memory().peakBytes());
    }
    return assessment.fits() ? Numbers.bytes(peak) : "! " + Numbers.bytes(peak);
  }

  /** Whether one of the shown plans carries the mark of not fitting. */
  static boolean marksAny(Planning planning, int most) {
    for (int i = 0; i < Math.min(most, planning.candidates().size()); i++) {
      if (!Picture.decisive(planning.candidates().get(i)).fits()) {
        return true;
      }
    }
    return false;
  }
}
