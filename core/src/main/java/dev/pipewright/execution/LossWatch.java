package dev.pipewright.execution;

import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Notices a loss that shows that training diverges: one that is ten times that of the first step,
 * and one that is no number. Says each once.
 */
public final class LossWatch {
  /** Of the first step's loss; a loss that has fallen far may rise by more without harm. */
  private static final double FACTOR = 10;

  private final double rate;
  private double first = Double.NaN;
  private boolean grown;
  private boolean lost;

  /**
   * Before the first step.
   *
   * @param rate the learning rate
   */
  public LossWatch(double rate) {
    this.rate = rate;
  }

  /** What the next step's loss shows, in a sentence for the user. */
  public Optional<String> stepped(StepResult step) {
    if (!Double.isFinite(step.loss())) {
      boolean known = lost;
      lost = true;
      return known
          ? Optional.empty()
          : Optional.of(
              "the loss is %s since step %d; start again with a --learning-rate below %s"
                  .formatted(
                      Double.isNaN(step.loss()) ? "NaN" : "infinite", step.step() + 1, rate()));
    }
    first = Double.isNaN(first) ? step.loss() : first;
    if (grown || step.loss() < FACTOR * first || first <= 0) {
      return Optional.empty();
    }
    grown = true;
    return Optional.of(
        String.format(
            Locale.ROOT,
            "the loss has grown from %.4g to %.4g in step %d; training diverges, try a"
                + " --learning-rate below %s",
            first,
            step.loss(),
            step.step() + 1,
            rate()));
  }

  private String rate() {
    return Units.plain(rate);
  }

  /** What the losses of a whole run show. */
  public static List<String> of(double rate, List<StepResult> steps) {
    LossWatch watch = new LossWatch(rate);
    List<String> remarks = new ArrayList<>();
    steps.forEach(step -> watch.stepped(step).ifPresent(remarks::add));
    return remarks;
  }
}
