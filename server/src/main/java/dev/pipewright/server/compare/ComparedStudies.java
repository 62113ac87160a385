package dev.pipewright.server.compare;

import dev.pipewright.api.Simulator;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.Shown;
import dev.pipewright.app.report.timeline.TimeNotation;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.server.store.StudyStore;
import dev.pipewright.server.study.KeptPlan;
import dev.pipewright.server.study.Recent;
import dev.pipewright.trace.Timeline;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Plans of studies, each simulated on the cluster that it was made for. The last comparisons are
 * kept, since a page and its picture are of the same one.
 */
public final class ComparedStudies {
  private static final int KEPT = 16;

  private final StudyStore store;
  private final Recent<List<KeptPlan>, SideBySide> last = new Recent<>(KEPT);

  public ComparedStudies(StudyStore store) {
    this.store = store;
  }

  /** What can differ between plans, in words. */
  private static final Map<String, Function<KeptPlan, String>> DECISIONS = decisions();

  /** The name of the plan at a position: {@code A}, {@code B}. */
  public static String letter(int position) {
    return String.valueOf((char) ('A' + position));
  }

  /**
   * Simulates the plans of studies.
   *
   * @throws BadInputException where a study has no plan, or they are too few or too many
   */
  public SideBySide of(List<String> ids) {
    SideBySide.checkCount(ids.size(), "studies");
    List<KeptPlan> all = ids.stream().map(id -> KeptPlan.of(store, id)).toList();
    Optional<SideBySide> known = last.find(all);
    if (known.isPresent()) {
      return known.get();
    }
    SideBySide compared = simulated(all);
    compared.checkSize(); // so that what is kept is small
    last.keep(all, compared);
    return compared;
  }

  private static SideBySide simulated(List<KeptPlan> all) {
    List<Shown> shown = new ArrayList<>();
    for (KeptPlan each : all) {
      shown.add(new Shown("plan " + letter(shown.size()), simulated(each), Optional.empty()));
    }
    return new SideBySide(
        new Runs("One step of each plan", "", TimeNotation.SECONDS, shown), differences(all));
  }

  private static Timeline simulated(KeptPlan kept) {
    return kept.with(problem -> Simulator.run(problem, kept.plan()).timeline());
  }

  private static Map<String, Function<KeptPlan, String>> decisions() {
    Map<String, Function<KeptPlan, String>> all = new LinkedHashMap<>();
    for (String field :
        List.of("model", "cluster", "batch", "precision", "optimizer", "sequence")) {
      all.put(field, each -> each.form().getOrDefault(field, "default"));
    }
    all.put("devices", each -> Integer.toString(each.plan().devices()));
    all.put("kind", each -> each.plan().kind());
    all.put("stages", each -> Integer.toString(each.plan().stages().size()));
    all.put(
        "layers of stages",
        each -> words(each, stage -> Integer.toString(stage.lastLayer() - stage.firstLayer() + 1)));
    all.put(
        "devices of a stage",
        each -> words(each, stage -> Integer.toString(stage.devices().size())));
    all.put("replicas", each -> words(each, stage -> Integer.toString(stage.replicas())));
    all.put("micro-batch", each -> Integer.toString(each.plan().microBatch()));
    all.put("micro-batches", each -> Integer.toString(each.plan().microBatches()));
    all.put("recomputation", each -> words(each, stage -> stage.recompute().toString()));
    return all;
  }

  /** The different values over the stages, in order. */
  private static String words(KeptPlan planned, Function<StagePlan, String> of) {
    return String.join(", ", planned.plan().stages().stream().map(of).distinct().toList());
  }

  private static Table differences(List<KeptPlan> all) {
    List<Column> columns = new ArrayList<>(List.of(Column.text("decision")));
    for (int i = 0; i < all.size(); i++) {
      columns.add(Column.text("plan " + letter(i)));
    }
    List<List<Cell>> rows = new ArrayList<>();
    DECISIONS.forEach((decision, of) -> {
      List<String> values = all.stream().map(of).toList();
      if (new TreeSet<>(values).size() > 1) {
        List<Cell> row = new ArrayList<>(List.of(Cell.of(decision)));
        values.forEach(value -> row.add(Cell.of(value)));
        rows.add(row);
      }
    });
    return new Table(columns, rows);
  }
}
