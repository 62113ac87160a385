package dev.pipewright.app.report.study;

import dev.pipewright.app.report.chart.Stack;
import dev.pipewright.app.report.chart.Stack.Mark;
import dev.pipewright.app.report.chart.StackPanel;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.predict.paradl.Prediction;
import dev.pipewright.predict.paradl.Prediction.Impossible;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Strategy;
import dev.pipewright.predict.paradl.Study;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/** A study as panels of bars: one for each strategy, a place for each device count. */
final class StudyStacks {
  private StudyStacks() {}

  static List<Predicted> predicted(Study study) {
    return study.predictions().stream()
        .filter(Predicted.class::isInstance)
        .map(Predicted.class::cast)
        .toList();
  }

  static List<StackPanel> panels(Study study, BiFunction<Predicted, Mark, Stack> bar) {
    List<StackPanel> panels = new ArrayList<>();
    for (Strategy strategy : study.strategies()) {
      List<Stack> stacks = new ArrayList<>();
      for (int devices : study.devices()) {
        stacks.add(stack(study, strategy, devices, bar));
      }
      panels.add(new StackPanel(strategy.label(), stacks, note(stacks)));
    }
    return panels;
  }

  private static Stack stack(
      Study study, Strategy strategy, int devices, BiFunction<Predicted, Mark, Stack> bar) {
    Optional<Prediction> prediction = study.at(strategy, devices);
    if (prediction.isEmpty()) {
      return Stack.impossible(
          devices, strategy + " on " + Words.count(devices, "device") + ": not asked");
    }
    return switch (prediction.get()) {
      case Predicted predicted -> bar.apply(predicted, mark(study, predicted));
      case Impossible impossible -> Stack.impossible(devices, StudyWords.impossible(impossible));
    };
  }

  /** The reason of the first place, where no place has a bar. */
  private static String note(List<Stack> stacks) {
    boolean empty = stacks.stream().allMatch(stack -> stack.mark() == Mark.IMPOSSIBLE);
    return empty && !stacks.isEmpty() ? stacks.getFirst().tip() : "";
  }

  static Mark mark(Study study, Predicted predicted) {
    if (!predicted.fits()) {
      return Mark.TOO_LARGE;
    }
    return StudyWords.isBest(study, predicted) ? Mark.BEST : Mark.FITS;
  }

  /** The words above a bar. */
  static String figure(String words, Mark mark) {
    return mark == Mark.TOO_LARGE ? "! " + words : words;
  }

  /** {@code data+filter on 64 devices (16 × 4)}. */
  static String place(Predicted predicted) {
    String layout = predicted.layout().toString();
    String place = predicted.strategy() + " on " + Words.count(predicted.devices(), "device");
    return layout.equals(Integer.toString(predicted.devices()))
        ? place
        : place + " (" + layout + ')';
  }
}
