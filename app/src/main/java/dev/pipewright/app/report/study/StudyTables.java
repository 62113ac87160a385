package dev.pipewright.app.report.study;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.predict.paradl.Finding;
import dev.pipewright.predict.paradl.Prediction;
import dev.pipewright.predict.paradl.Prediction.Impossible;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.ScalingLimit;
import dev.pipewright.predict.paradl.Strategy;
import dev.pipewright.predict.paradl.Study;
import dev.pipewright.predict.paradl.Study.Resource;
import dev.pipewright.predict.paradl.Study.Sensitivity;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The tables of a study. */
final class StudyTables {
  private StudyTables() {}

  /** Every prediction, device count by device count. */
  static Table predictions(Study study, List<StudyColumn> columns) {
    List<List<Cell>> rows = new ArrayList<>();
    for (int devices : study.devices()) {
      for (Strategy strategy : study.strategies()) {
        Optional<Prediction> prediction = study.at(strategy, devices);
        if (prediction.isPresent()) {
          rows.add(row(study, prediction.get(), columns));
        }
      }
    }
    return new Table(columns.stream().map(StudyColumn::column).toList(), rows);
  }

  private static List<Cell> row(Study study, Prediction prediction, List<StudyColumn> columns) {
    List<Cell> row = new ArrayList<>();
    for (StudyColumn column : columns) {
      row.add(
          switch (prediction) {
            case Predicted predicted -> column.cell(predicted, StudyWords.isBest(study, predicted));
            case Impossible impossible -> Cell.of(cell(impossible, column));
          });
    }
    return row;
  }

  private static String cell(Impossible impossible, StudyColumn column) {
    return switch (column) {
      case DEVICES -> Integer.toString(impossible.devices());
      case STRATEGY -> "  " + impossible.strategy();
      case BATCH -> Numbers.grouped(impossible.globalBatch());
      case ITERATION -> "impossible";
      default -> "–";
    };
  }

  /** The choice and the fastest of the others on each number of devices. */
  static Table choices(Study study) {
    List<Column> columns =
        List.of(
            Column.number("devices"),
            Column.text("choice"),
            Column.number("samples\nper s"),
            Column.text("memory"),
            Column.text("runner-up"),
            Column.number("slower\nby"));
    List<List<Cell>> rows = new ArrayList<>();
    for (int devices : study.devices()) {
      rows.add(choice(study, devices));
    }
    return new Table(columns, rows);
  }

  private static List<Cell> choice(Study study, int devices) {
    Cell none = Cell.of("–");
    Cell count = Cell.of(Integer.toString(devices));
    Optional<Predicted> choice = study.choice(devices);
    if (choice.isEmpty()) {
      return Table.row(count, Cell.of("none fits"), none, none, none, none);
    }
    Predicted best = choice.get();
    Optional<Predicted> other =
        study.ranking(devices).stream().filter(p -> p.strategy() != best.strategy()).findFirst();
    return Table.row(
        count,
        Cell.of(best.strategy().label()),
        StudyColumn.SAMPLES.cell(best, true),
        StudyColumn.MEMORY.cell(best, true),
        other.map(p -> Cell.of(p.strategy().label())).orElse(none),
        other.map(p -> Cell.of(behind(best, p))).orElse(none));
  }

  /** How much more time than {@code best} a sample takes. */
  private static String behind(Predicted best, Predicted other) {
    double factor = best.samplesPerSecond() / other.samplesPerSecond();
    if (factor < 1.01) { // no reason to choose by
      return "equal";
    }
    return factor >= 2 ? Numbers.times(factor) : Units.percent(factor - 1);
  }

  /** A row for each resource, a column for each factor. */
  static Table sensitivities(Study study) {
    List<Double> factors =
        study.sensitivities().stream().map(Sensitivity::factor).distinct().sorted().toList();
    List<Column> columns = new ArrayList<>();
    columns.add(Column.text("of"));
    factors.forEach(factor -> columns.add(Column.text(StudyWords.factor(factor))));
    List<List<Cell>> rows = new ArrayList<>();
    for (Resource resource : Resource.values()) {
      List<Cell> row = new ArrayList<>();
      row.add(Cell.of(resource.label()));
      for (double factor : factors) {
        row.add(Cell.of(sensitivity(study, resource, factor)));
      }
      if (study.sensitivities().stream().anyMatch(s -> s.resource() == resource)) {
        rows.add(row);
      }
    }
    return new Table(columns, rows);
  }

  private static String sensitivity(Study study, Resource resource, double factor) {
    for (Sensitivity sensitivity : study.sensitivities()) {
      if (sensitivity.resource() == resource && sensitivity.factor() == factor) {
        return sensitivity(study, sensitivity);
      }
    }
    return "–";
  }

  private static String sensitivity(Study study, Sensitivity sensitivity) {
    if (sensitivity.choice().isEmpty()) {
      return sensitivity.changes() ? "! none fits" : "none fits";
    }
    Optional<Predicted> now = study.choice(StudyWords.mostDevices(study));
    String choice = (sensitivity.changes() ? "! " : "") + sensitivity.choice().get().label();
    if (now.isEmpty()) {
      return choice + ", " + Numbers.rate(sensitivity.samplesPerSecond()) + " samples/s";
    }
    double change = sensitivity.samplesPerSecond() / now.get().samplesPerSecond() - 1;
    return choice
        + ", "
        + (Numbers.change(change).equals(Numbers.change(0)) ? "the same" : Numbers.change(change));
  }

  /** What ends the scaling of each strategy, with the batch of the most devices. */
  static Table limits(Study study) {
    List<Column> columns =
        List.of(
            Column.text("strategy"),
            Column.number("most devices"),
            Column.text("limit"),
            Column.text("why"));
    Set<List<Cell>> rows = new LinkedHashSet<>();
    int most = StudyWords.mostDevices(study);
    for (Strategy strategy : study.strategies()) {
      study
          .at(strategy, most)
          .ifPresent(p -> p.limits().forEach(limit -> rows.add(limit(strategy, limit))));
    }
    return new Table(columns, List.copyOf(rows));
  }

  private static List<Cell> limit(Strategy strategy, ScalingLimit limit) {
    return Table.row(
        Cell.of(strategy.label()),
        Cell.of(Numbers.grouped(limit.devices())),
        Cell.of(limit.kind()),
        Cell.of(limit.why()));
  }

  /** Where a strategy is impossible and why, device counts with one reason together. */
  static Table impossible(Study study) {
    Map<List<String>, List<Integer>> places = new LinkedHashMap<>();
    for (Prediction prediction : study.predictions()) {
      if (prediction instanceof Impossible impossible) {
        List<String> reason = List.of(impossible.strategy().label(), reason(impossible));
        places.computeIfAbsent(reason, key -> new ArrayList<>()).add(impossible.devices());
      }
    }
    List<List<Cell>> rows = new ArrayList<>();
    places.forEach((reason, devices) ->
        rows.add(
            Table.row(
                Cell.of(reason.get(0)),
                Cell.of(StudyWords.counts(devices, study.devices())),
                Cell.of(reason.get(1)))));
    return new Table(
        List.of(Column.text("strategy"), Column.text("devices"), Column.text("impossible because")),
        rows);
  }

  /** The reason without the device count that it may begin with, as the row names several. */
  private static String reason(Impossible impossible) {
    String count = Words.count(impossible.devices(), "device") + " ";
    String why = impossible.why();
    return why.startsWith(count) ? "so many devices " + why.substring(count.length()) : why;
  }

  /** What holds a prediction back and what would help. */
  static Table findings(Predicted predicted) {
    List<List<Cell>> rows = new ArrayList<>();
    for (Finding finding : predicted.findings()) {
      rows.add(
          Table.row(
              Cell.of(finding.bottleneck().label()),
              Cell.of(finding.sentence()),
              Cell.of(finding.help())));
    }
    return new Table(
        List.of(
            Column.text("bottleneck"),
            Column.text("what the figures show"),
            Column.text("what would help")),
        rows);
  }
}
