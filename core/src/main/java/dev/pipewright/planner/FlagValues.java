package dev.pipewright.planner;

import java.util.Map;
import java.util.Optional;

/**
 * What the user gave for the flags that a planner declares for itself.
 *
 * @param values by the flag's name; empty text for a flag without a value
 */
public record FlagValues(Map<String, String> values) {
  /** No such flag was given. */
  public static final FlagValues NONE = new FlagValues(Map.of());

  public FlagValues {
    values = Map.copyOf(values);
  }

  public boolean has(PlannerFlag flag) {
    return values.containsKey(flag.name());
  }

  /** The value as the user wrote it; empty where the flag was not given. */
  public Optional<String> text(PlannerFlag flag) {
    return Optional.ofNullable(values.get(flag.name()));
  }
}
