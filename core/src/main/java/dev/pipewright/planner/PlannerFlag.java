package dev.pipewright.planner;

import dev.pipewright.units.Check;
import java.util.Optional;

/**
 * A flag of {@code plan} that a planner declares for itself; its catalogue entry lists it, and the
 * command line, its help and its completion follow from that.
 *
 * @param name as users write it, like {@code --linearize}
 * @param label of its value in the help text; empty for a flag without a value
 * @param words what it does, for the help text
 */
public record PlannerFlag(String name, Optional<String> label, String words) {
  public PlannerFlag {
    Check.that(name.startsWith("--"), "a flag begins with two dashes: name=%s", name);
  }

  /** A flag without a value. */
  public static PlannerFlag of(String name, String words) {
    return new PlannerFlag(name, Optional.empty(), words);
  }

  /** A flag with a value, which the planner reads from its text. */
  public static PlannerFlag of(String name, String label, String words) {
    return new PlannerFlag(name, Optional.of(label), words);
  }
}
