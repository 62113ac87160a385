package dev.pipewright.app.report.study;

import dev.pipewright.app.report.chart.Stack;
import dev.pipewright.app.report.chart.StackAxis;
import dev.pipewright.app.report.chart.StackChart;
import dev.pipewright.predict.paradl.Phase;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Study;
import dev.pipewright.units.Units;
import java.util.List;

/**
 * Where the seconds of an iteration go: stacked bars over device counts, a panel for each strategy,
 * as figure 3 of ParaDL (HPDC 2021, doi:10.1145/3431379.3460644) has one for each model and
 * strategy.
 */
public final class StudyTimeSvg {
  private StudyTimeSvg() {}

  /**
   * All panels as an SVG document.
   *
   * @param subject what was asked: {@code vgg-16 on abci}
   */
  public static String of(Study study, String subject) {
    return chart(study).document(subject);
  }

  static StackChart chart(Study study) {
    List<Double> totals =
        StudyStacks.predicted(study).stream().map(p -> p.iterationSeconds()).toList();
    StackAxis axis = StackAxis.seconds(totals);
    return new StackChart(
        "Time of one iteration",
        "By phase, over the number of devices; all panels have the same axis.",
        StudyParts.phases(),
        StudyStacks.panels(study, StudyTimeSvg::stack),
        axis,
        false,
        StackChart.needsShares(totals, axis));
  }

  private static Stack stack(Predicted predicted, Stack.Mark mark) {
    return new Stack(
        predicted.devices(),
        StudyParts.amounts(predicted.phases()),
        Double.POSITIVE_INFINITY,
        StudyStacks.figure(Units.seconds(predicted.iterationSeconds()), mark),
        mark,
        tip(predicted));
  }

  private static String tip(Predicted predicted) {
    double total = predicted.iterationSeconds();
    StringBuilder tip = new StringBuilder(StudyStacks.place(predicted));
    tip.append(": ").append(Units.seconds(total)).append(" per iteration");
    for (Phase phase : Phase.values()) {
      double seconds = predicted.phases().seconds(phase);
      if (seconds > 0) {
        tip.append("; ").append(phase.label()).append(' ').append(Units.seconds(seconds));
        tip.append(", ").append(Units.percent(seconds / total));
      }
    }
    return tip.toString();
  }
}
