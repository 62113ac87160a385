package dev.pipewright.app.cli.train;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.execution.HeldOutResult;
import dev.pipewright.execution.LossWatch;
import dev.pipewright.execution.StepResult;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Optimizer;
import dev.pipewright.units.Units;
import java.util.List;
import java.util.Locale;

/** What a training run has shown, for a terminal. */
public final class TrainingText {
  private TrainingText() {}

  static String of(TrainingRequest request, TrainingOutcome outcome) {
    List<StepResult> steps = outcome.steps();
    StepResult first = steps.get(0);
    StepResult last = steps.get(steps.size() - 1);
    double seconds = outcome.typical().seconds();
    StringBuilder text = new StringBuilder();
    text.append(
        "%s  %s  %s  %s%n"
            .formatted(
                request.model(),
                Words.count(request.assignment().size(), "worker"),
                request.assignment().schedule().name(),
                Words.count(
                    request.assignment().schedule().microBatches()
                        * request.assignment().schedule().placement().chains()
                        / request.assignment().steps(),
                    "micro-batch")));
    text.append("learns   %s%n".formatted(rule(request.learning().rule())));
    text.append("loss     %.4f → %.4f%n".formatted(first.loss(), last.loss()));
    LossWatch.of(request.learning().rule().rate(), steps)
        .forEach(remark -> text.append("warning  %s%n".formatted(remark)));
    if (Double.isFinite(last.correct())) {
      text.append(
          "right    %.1f %% → %.1f %%%n".formatted(100 * first.correct(), 100 * last.correct()));
    }
    if (!outcome.heldOut().isEmpty()) {
      HeldOutResult answered = outcome.heldOut().get(outcome.heldOut().size() - 1);
      text.append("held out loss %.4f".formatted(answered.loss()));
      if (Double.isFinite(answered.correct())) {
        text.append(", %.1f %% right".formatted(100 * answered.correct()));
      }
      text.append(" after step %d%n".formatted(answered.step() + 1));
    }
    text.append(step(seconds, last.samples()));
    for (TrainingOutcome.Worker worker : outcome.workers()) {
      text.append(
          "worker %d  peak %s%n"
              .formatted(worker.worker(), Units.binary((double) worker.peakBytes(), "B")));
    }
    outcome.stolen().remark().ifPresent(remark -> text.append(remark).append('\n'));
    outcome.checkpoint().ifPresent(folder -> text.append("checkpoint %s%n".formatted(folder)));
    if (outcome.stopped()) {
      text.append(
          "stopped after step %d of %d%n".formatted(last.step() + 1, request.learning().steps()));
    }
    return text.toString();
  }

  public static String step(double seconds, long samples) {
    return "step     %s, median  (%s samples/s)%n"
        .formatted(Units.seconds(seconds), Numbers.rate(samples / seconds));
  }

  public static String rule(UpdateRule rule) {
    StringBuilder text = new StringBuilder(rule.kind().name().toLowerCase(Locale.ROOT));
    if (rule.kind() == Optimizer.MOMENTUM) {
      text.append(' ').append(Units.plain(rule.momentum()));
    }
    text.append(", learning rate ").append(Units.plain(rule.rate()));
    if (rule.decay() > 0) {
      text.append(", weight decay ").append(Units.plain(rule.decay()));
    }
    return text.toString();
  }
}
