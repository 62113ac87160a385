package dev.pipewright.formats.json;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Writes maps, collections, text, numbers and truth values as JSON. What fits stays on one line. A
 * number that is not finite and an empty {@link Optional} become {@code null}. Doubles are written
 * so that reading gives the same bits.
 */
public final class JsonText {
  private static final int COLUMNS = 100;

  private final StringBuilder out = new StringBuilder();

  private JsonText() {}

  /** Indented JSON that ends with a line feed. */
  public static String of(Map<String, ?> object) {
    JsonText text = new JsonText();
    text.brokenObject(object, "");
    return text.out.append('\n').toString();
  }

  /**
   * An object's text with further members at its end.
   *
   * @param object as {@link #of} writes it
   */
  public static String joined(String object, Map<String, ?> further) {
    String head = object.substring(0, object.lastIndexOf("\n}"));
    return head + ",\n" + of(further).substring("{\n".length());
  }

  /** An object with two members, in this order. */
  public static Map<String, Object> pair(String key, Object value, String other, Object that) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put(key, value);
    object.put(other, that);
    return object;
  }

  /** An object in one line that ends with a line feed. */
  public static String line(Map<String, ?> object) {
    return inline(object, true) + "\n";
  }

  /** One line, with plain keys: a flow mapping or sequence of YAML. */
  public static String flow(Object value) {
    return inline(value, false);
  }

  private void value(Object value, String indent, int column) {
    if (value instanceof Optional<?> optional && optional.isPresent()) {
      value(optional.get(), indent, column);
      return;
    }
    String line = inline(value, true);
    if (column + line.length() <= COLUMNS) {
      out.append(line);
    } else if (value instanceof Map<?, ?> object) {
      brokenObject(object, indent);
    } else if (value instanceof Collection<?> list) {
      brokenList(list, indent);
    } else {
      out.append(line);
    }
  }

  private void brokenObject(Map<?, ?> object, String indent) {
    String inner = indent + "  ";
    String separator = "{\n";
    for (Map.Entry<?, ?> member : object.entrySet()) {
      String key = quoted(String.valueOf(member.getKey())) + ": ";
      out.append(separator).append(inner).append(key);
      value(member.getValue(), inner, inner.length() + key.length() + 1);
      separator = ",\n";
    }
    out.append('\n').append(indent).append('}');
  }

  /** Objects and lists one per line; numbers fill the lines. */
  private void brokenList(Collection<?> list, String indent) {
    String inner = indent + "  ";
    out.append('[');
    int column = COLUMNS;
    String separator = "";
    for (Object element : list) {
      boolean scalar = !(element instanceof Map || element instanceof Collection);
      int width = scalar ? inline(element, true).length() + 2 : COLUMNS;
      out.append(separator);
      if (column + width > COLUMNS) {
        out.append('\n').append(inner);
        column = inner.length();
      } else {
        out.append(' ');
      }
      value(element, inner, inner.length() + 1);
      column += width;
      separator = ",";
    }
    out.append('\n').append(indent).append(']');
  }

  private static String inline(Object value, boolean quotedKeys) {
    return switch (value) {
      case Map<?, ?> object -> {
        StringBuilder text = new StringBuilder("{");
        object.forEach((key, member) ->
            text.append(text.length() > 1 ? ", " : "")
                .append(quotedKeys ? quoted(String.valueOf(key)) : key)
                .append(": ")
                .append(inline(member, quotedKeys)));
        yield text.append('}').toString();
      }
      case Collection<?> list -> {
        StringBuilder text = new StringBuilder("[");
        list.forEach(element ->
            text.append(text.length() > 1 ? ", " : "").append(inline(element, quotedKeys)));
        yield text.append(']').toString();
      }
      case Optional<?> optional ->
          optional.isPresent() ? inline(optional.get(), quotedKeys) : "null";
      case Double number -> Double.isFinite(number) ? number.toString() : "null";
      case Integer number -> number.toString();
      case Long number -> number.toString();
      case Boolean flag -> flag.toString();
      case String text -> quoted(text);
      default -> throw new IllegalArgumentException("no JSON for " + value.getClass());
    };
  }

  /** JSON's escapes are YAML's too. */
  public static String quoted(String text) {
    StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> quoted.append("\\\"");
        case '\\' -> quoted.append("\\\\");
        case '\n' -> quoted.append("\\n");
        case '\r' -> quoted.append("\\r");
        case '\t' -> quoted.append("\\t");
        default -> {
          boolean plain =
              !Character.isISOControl(c) && c != '\u2028' && c != '\u2029' && c != '\uFEFF';
          quoted.append(plain ? String.valueOf(c) : String.format("\\u%04x", (int) c));
        }
      }
    }
    return quoted.append('"').toString();
  }
}
