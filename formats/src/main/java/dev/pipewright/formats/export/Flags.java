package dev.pipewright.formats.export;

import java.util.LinkedHashMap;
import java.util.Map;

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
