package dev.pipewright.server.whatif;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.formats.json.Node;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.server.study.KeptPlan;
import dev.pipewright.server.study.Members;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A study's plan and the one that was found where sliders have been moved, side by side. */
final class MovedFigures {
  private static final double HOUR = 3600;
  private static final double SAME = 1e-9;

  private MovedFigures() {}

  /** Of a plan and its step. */
  private record Side(PipelinePlan plan, double seconds, double peak) {
    int devices() {
      return plan.devices();
    }

    double price(double ofHour) {
      return ofHour * devices() * seconds / HOUR;
    }
  }

  /**
   * What the page shows.
   *
   * @param best empty where nothing fits
   * @param on the cluster as it is where sliders have been moved
   * @param price of a device-hour; 0 for none
   * @param tried layouts
   * @param nanos that the search took
   */
  static Moved of(
      KeptPlan kept, Optional<Candidate> best, Cluster on, double price, long tried, long nanos) {
    String search =
        "%s tried in %s".formatted(Words.count(tried, "other layout"), Units.seconds(nanos / 1e9));
    Side before = side(kept);
    if (best.isEmpty()) {
      return new Moved(
          "Nothing fits that is near the study's plan; give devices more memory, or take more of them.",
          table(before, Optional.empty(), price),
          List.of(),
          0,
          search);
    }
    Candidate found = best.get();
    Side after = new Side(found.plan(), found.seconds(), found.peakBytes());
    return new Moved(
        sentence(before, after),
        table(before, Optional.of(after), price),
        found.estimate().memory().stream().map(PeakMemory::peakBytes).toList(),
        on.mostMemory().value(),
        search);
  }

  private static Side side(KeptPlan kept) {
    Members simulated = Members.of(kept.study().answer()).member("simulated");
    double peak = simulated.list("peak_bytes").stream().mapToDouble(Node::finite).max().orElse(0);
    return new Side(kept.plan(), simulated.number("step_s"), peak);
  }

  private static String sentence(Side before, Side after) {
    double change = after.seconds() / before.seconds() - 1;
    String step =
        Math.abs(change) < SAME
            ? "A step takes as long as in the study"
            : "A step takes %s, %s".formatted(Units.seconds(after.seconds()), words(change));
    return step
        + (after.plan().equals(before.plan())
            ? ", with the same plan."
            : ", with another plan: %s.".formatted(Words.stages(after.plan())));
  }

  private static String words(double change) {
    return change < 0
        ? "%s less than in the study".formatted(Units.percent(-change))
        : "%s more than in the study".formatted(Units.percent(change));
  }

  private static Table table(Side before, Optional<Side> after, double price) {
    List<List<Cell>> rows = new ArrayList<>();
    long samples = before.plan().globalBatch();
    add(rows, "step time", before.seconds(), after.map(Side::seconds), Units::seconds);
    add(
        rows,
        "samples/s",
        samples / before.seconds(),
        after.map(side -> samples / side.seconds()),
        Numbers::rate);
    add(rows, "peak memory", before.peak(), after.map(Side::peak), Numbers::bytes);
    add(
        rows,
        "devices",
        before.devices(),
        after.map(side -> (double) side.devices()),
        Units::plain);
    add(
        rows,
        "device-seconds of a step",
        before.seconds() * before.devices(),
        after.map(side -> side.seconds() * side.devices()),
        Units::significant);
    if (price > 0) {
      add(
          rows,
          "price of a step",
          before.price(price),
          after.map(side -> side.price(price)),
          Numbers::price);
    }
    addWords(rows, "kind", before, after, PipelinePlan::kind);
    addWords(rows, "schedule", before, after, plan -> plan.spec().scheduleName());
    addWords(rows, "stages", before, after, plan -> Integer.toString(plan.stages().size()));
    addWords(rows, "devices of a rank", before, after, MovedFigures::ofRanks);
    addWords(rows, "tensor parallel", before, after, MovedFigures::divided);
    addWords(
        rows,
        "micro-batches",
        before,
        after,
        plan -> plan.microBatches() + " of " + Words.count(plan.microBatching(), "sample"));
    addWords(rows, "recomputes", before, after, MovedFigures::recomputes);
    return new Table(
        List.of(
            Column.text("figure"),
            Column.number("study"),
            Column.number("now"),
            Column.number("change")),
        rows);
  }

  private interface Format {
    String of(double value);
  }

  private interface Decision {
    String of(PipelinePlan plan);
  }

  private static void add(
      List<List<Cell>> rows, String name, double before, Optional<Double> after, Format format) {
    String change =
        after
            .filter(now -> Math.abs(now / before - 1) >= SAME)
            .map(now -> Numbers.change(now / before - 1))
            .orElse("–");
    rows.add(
        Table.row(
            Cell.of(name),
            Cell.of(format.of(before)),
            Cell.of(after.map(format::of).orElse("–")),
            Cell.of(change)));
  }

  private static void addWords(
      List<List<Cell>> rows, String name, Side before, Optional<Side> after, Decision decision) {
    String was = decision.of(before.plan());
    String now = after.map(side -> decision.of(side.plan())).orElse("–");
    rows.add(
        Table.row(
            Cell.of(name),
            Cell.of(was),
            Cell.of(now),
            Cell.of(after.isEmpty() || was.equals(now) ? "–" : "another")));
  }

  private static String ofRanks(PipelinePlan plan) {
    return distinct(plan.devicesByRank().stream().map(List::size).toList());
  }

  private static String divided(PipelinePlan plan) {
    return distinct(plan.stages().stream().map(stage -> stage.parallelism().parts()).toList());
  }

  private static String recomputes(PipelinePlan plan) {
    long stages =
        plan.stages().stream()
            .map(StagePlan::recompute)
            .filter(each -> each != Recompute.NONE)
            .count();
    return stages == 0 ? "nothing" : "in " + Words.count(stages, "stage");
  }

  private static String distinct(List<Integer> values) {
    return String.join(
        ", ", values.stream().distinct().map(each -> Integer.toString(each)).toList());
  }
}
