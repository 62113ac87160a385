package dev.pipewright.app.report.study;

import dev.pipewright.app.report.chart.Stack;
import dev.pipewright.app.report.chart.StackAxis;
import dev.pipewright.app.report.chart.StackChart;
import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Study;
import java.util.List;

/**
 * What the fullest device holds at its peak against what it has: stacked bars over device counts, a
 * panel for each strategy.
 */
public final class StudyMemorySvg {
  private StudyMemorySvg() {}

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
        StudyStacks.predicted(study).stream().map(p -> p.memory().total()).toList();
    double capacity =
        StudyStacks.predicted(study).stream()
            .mapToDouble(Predicted::capacity)
            .filter(Figure::isLimited)
            .max()
            .orElse(0);
    StackAxis axis = StackAxis.bytes(totals, capacity);
    return new StackChart(
        "Memory of the fullest device",
        capacity > 0
            ? "At its peak, over the number of devices; labels are shares of what a device has."
            : "At its peak, over the number of devices; all panels have the same axis.",
        StudyParts.MEMORY,
        StudyStacks.panels(study, StudyMemorySvg::stack),
        axis,
        capacity > 0,
        StackChart.needsShares(totals, axis));
  }

  private static Stack stack(Predicted predicted, Stack.Mark mark) {
    double bytes = predicted.memory().total();
    boolean limited = Figure.isLimited(predicted.capacity());
    return new Stack(
        predicted.devices(),
        StudyParts.amounts(predicted.memory()),
        limited ? predicted.capacity() : Double.POSITIVE_INFINITY,
        StudyStacks.figure(
            limited ? StudyWords.share(bytes / predicted.capacity()) : Numbers.bytes(bytes), mark),
        mark,
        tip(predicted));
  }

  private static String tip(Predicted predicted) {
    StringBuilder tip = new StringBuilder(StudyStacks.place(predicted));
    tip.append(": ").append(Numbers.bytes(predicted.memory().total()));
    if (Figure.isLimited(predicted.capacity())) {
      tip.append(" of ").append(Numbers.bytes(predicted.capacity()));
    }
    List<Double> amounts = StudyParts.amounts(predicted.memory());
    for (int part = 0; part < amounts.size(); part++) {
      if (amounts.get(part) > 0) {
        tip.append("; ").append(StudyParts.MEMORY.get(part).word());
        tip.append(' ').append(Numbers.bytes(amounts.get(part)));
      }
    }
    return tip.toString();
  }
}
