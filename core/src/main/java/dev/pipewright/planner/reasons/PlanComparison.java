package dev.pipewright.planner.reasons;

import dev.pipewright.cost.Misfit;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Another plan against the chosen one.
 *
 * @param name what people call it, such as {@code data parallelism}
 * @param other the plan with its figures
 * @param parts of its step
 * @param chosen the step and its parts of the chosen plan
 * @param chosenSeconds of that step
 */
public record PlanComparison(
    String name, Candidate other, StepParts parts, StepParts chosen, double chosenSeconds) {
  private static final double EQUAL = 0.005; // shares below it are not worth a word
  private static final double SHARE = 0.2; // of the difference that a part must explain

  /** The first stage that does not fit; empty where all do. */
  public Optional<Misfit> misfit() {
    return other.estimate().misfits(other.plan()).stream().findFirst();
  }

  /** How much longer its step is, as a share of the chosen plan's; negative where it is shorter. */
  public double gap() {
    return other.seconds() / chosenSeconds - 1;
  }

  /** The parts that make the difference, the largest first. */
  public List<StepPart> reasons() {
    double difference = other.seconds() - chosenSeconds;
    return Stream.of(StepPart.values())
        .filter(part -> more(part) * Math.signum(difference) > SHARE * Math.abs(difference))
        .sorted(Comparator.comparingDouble((StepPart part) -> -Math.abs(more(part))))
        .toList();
  }

  private double more(StepPart part) {
    return parts.of(part) - chosen.of(part);
  }

  /** In words: whether it fits, how long its step is, and why. */
  public String sentence() {
    List<String> words = new ArrayList<>();
    misfit()
        .ifPresent(misfit ->
            words.add("does not fit: %s of %s".formatted(misfit.holder(), misfit.capacity())));
    words.add(time());
    return "%s (%s) %s".formatted(name, PlanWords.of(other.plan()), String.join("; ", words));
  }

  private String time() {
    String takes =
        (misfit().isPresent() ? "it would take " : "takes ") + Units.seconds(other.seconds());
    if (Math.abs(gap()) < EQUAL) {
      return takes + ", as long as this plan";
    }
    String longer = takes + ", " + PlanWords.difference(gap());
    List<String> why = reasons().stream().map(this::why).toList();
    return why.isEmpty() ? longer : longer + ": its busiest rank " + String.join(", ", why);
  }

  private String why(StepPart part) {
    String takes = part.verb() + " for " + Units.seconds(parts.of(part));
    boolean both = chosen.of(part) > EQUAL * chosenSeconds;
    return both ? takes + " instead of " + Units.seconds(chosen.of(part)) : takes;
  }
}
