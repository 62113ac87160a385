package dev.pipewright.formats.export;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;

/** Flags of a command line in order, each with its value or alone. */
final class Flags {
  private final Map<String, String> values = new LinkedHashMap<>();

  /** A flag that stands alone. */
  Flags add(String name) {
    values.put(name, "");
    return this;
  }

  Flags add(String name, Object value) {
    values.put(name, String.valueOf(value));
    return this;
  }

  /** Adds a flag where a condition holds. */
  Flags addIf(boolean condition, String name) {
    return condition ? add(name) : this;
  }

  Flags addIf(boolean condition, String name, Object value) {
    return condition ? add(name, value) : this;
  }

  /** Adds a flag with a number where there is one. */
  Flags addIf(OptionalDouble number, String name) {
    return number.isPresent() ? add(name, decimal(number.getAsDouble())) : this;
  }

  /** {@code 0.000001} and {@code 500000}, as Python reads them. */
  private static String decimal(double number) {
    return BigDecimal.valueOf(number).stripTrailingZeros().toPlainString();
  }

  /** An array of a shell, a flag on each line. */
  String array(String name) {
    StringBuilder text = new StringBuilder(name + "=(\n");
    values.forEach((flag, value) ->
        text.append("  ")
            .append(flag)
            .append(value.isEmpty() ? "" : " " + quoted(value))
            .append('\n'));
    return text.append(")\n").toString();
  }

  /** As a shell reads it unchanged. */
  private static String quoted(String value) {
    return value.matches("[A-Za-z0-9_.:/-]+") ? value : "'" + value.replace("'", "'\\''") + "'";
  }
}
