package dev.pipewright.app.report.study;

import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.units.Units;
import java.util.List;

/** A column of the table of predictions; narrow terminals go without some. */
enum StudyColumn {
  DEVICES("devices", true),
  STRATEGY("strategy", false),
  LAYOUT("layout", false),
  BATCH("batch", true),
  ITERATION("iteration", true),
  COMPUTE("compute", true),
  COMMUNICATION("communi\u00ad\ncation", true),
  EPOCH("epoch", true),
  MEMORY("memory", false),
  SAMPLES("samples\nper s", true),
  BOTTLENECK("first bottleneck", false);

  /** The least telling first. */
  static final List<StudyColumn> DISPENSABLE = List.of(BOTTLENECK, EPOCH, COMPUTE, LAYOUT, BATCH);

  private final String heading;
  private final boolean right;

  StudyColumn(String heading, boolean right) {
    this.heading = heading;
    this.right = right;
  }

  Column column() {
    return new Column(heading, right);
  }

  /** What the column says of a prediction; {@code best} is marked. */
  Cell cell(Predicted predicted, boolean best) {
    return switch (this) {
      case DEVICES -> Cell.of(Integer.toString(predicted.devices()));
      case STRATEGY -> Cell.of((best ? "* " : "  ") + predicted.strategy());
      case LAYOUT -> Cell.of(predicted.layout().toString());
      case BATCH -> Cell.of(Numbers.grouped(predicted.globalBatch()));
      case ITERATION -> Cell.seconds(predicted.iterationSeconds());
      case COMPUTE -> Cell.seconds(predicted.phases().compute());
      case COMMUNICATION -> Cell.seconds(predicted.phases().communication());
      case EPOCH -> Cell.of(epoch(predicted));
      case MEMORY -> memory(predicted);
      case SAMPLES -> Cell.of(Numbers.rate(predicted.samplesPerSecond()));
      case BOTTLENECK ->
          Cell.of(
              predicted.findings().isEmpty()
                  ? "–"
                  : predicted.findings().getFirst().bottleneck().label());
    };
  }

  /** {@code 12.3 h}: an epoch can be long. */
  private static String epoch(Predicted predicted) {
    return predicted.epochSeconds().isPresent()
        ? epoch(predicted.epochSeconds().getAsDouble())
        : "–";
  }

  private static String epoch(double seconds) {
    if (seconds < 600) {
      return Units.seconds(seconds);
    }
    double hours = seconds / 3600;
    return hours < 1
        ? Units.significant(seconds / 60) + " min"
        : hours < 48 ? Units.significant(hours) + " h" : rounded(hours / 24) + " d";
  }

  private static String rounded(double days) {
    return days < 1_000 ? Units.significant(days) : Numbers.grouped(Math.round(days));
  }

  private static Cell memory(Predicted predicted) {
    double bytes = predicted.memory().total();
    if (!Figure.isLimited(predicted.capacity())) {
      return Cell.of(Numbers.bytes(bytes));
    }
    double share = bytes / predicted.capacity();
    return new Cell((share > 1 ? "! " : "") + StudyWords.share(share), share);
  }
}
