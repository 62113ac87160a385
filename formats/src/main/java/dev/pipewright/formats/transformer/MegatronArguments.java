package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.ShownText;
import dev.pipewright.units.Check;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Megatron's arguments that a file gives, by the name after {@code --}. */
public final class MegatronArguments {
  private static final Pattern NUMBER =
      Pattern.compile("(\\d+\\.?\\d*|\\.\\d+)([eE][-+]?\\d{1,3})?");
  private static final Set<String> NOTHING = Set.of("None", "null", "none", "");

  /**
   * A value as the file writes it; {@code true} where the flag stands alone.
   *
   * @param line where, from 1
   */
  record Value(String text, int line) {}

  private final Path file;
  private final UnaryOperator<String> expander;
  private final Map<String, List<Value>> values = new LinkedHashMap<>();

  /**
   * None yet.
   *
   * @param expander makes plain text of a value when it is asked for; throws {@link
   *     IllegalArgumentException} saying why it cannot
   */
  MegatronArguments(Path file, UnaryOperator<String> expander) {
    this.file = file;
    this.expander = expander;
  }

  /** {@code --num-layers} and {@code num_layers} are the same. */
  private static String key(String name) {
    return name.replaceFirst("^--", "").replace('_', '-').toLowerCase(Locale.ROOT);
  }

  void add(String name, String text, int line) {
    values.computeIfAbsent(key(name), each -> new ArrayList<>()).add(new Value(text, line));
  }

  /** Gives the flag that was added last under this name a value. */
  void setLast(String name, String text) {
    List<Value> all = values.getOrDefault(key(name), List.of());
    all.set(all.size() - 1, new Value(text, all.get(all.size() - 1).line));
  }

  boolean isEmpty() {
    return values.isEmpty();
  }

  /**
   * Throws {@link BadInputException} where an argument is spelled almost like one that is read; the
   * others that are not read are those of other parts of Megatron.
   */
  void refuseMisspelled() {
    values.forEach((name, all) ->
        MegatronNames.meant(name)
            .ifPresent(meant -> {
              throw wrong(name, "--%s is no argument of Megatron-LM; %s".formatted(name, meant));
            }));
  }

  private List<Value> all(String name) {
    Check.that(MegatronNames.isRead(name), "arguments that are read have a name: --%s", name);
    return values.getOrDefault(name, List.of());
  }

  /** The one value of a flag; two that differ are a mistake. */
  private @Nullable Value value(String name) {
    List<Value> all = all(name);
    @Nullable Value found = null;
    for (Value each : all) {
      String text = expanded(name, each);
      if (found != null && !found.text.equals(text)) {
        throw BadInputException.at(
            file,
            each.line,
            "--%s is %s here and %s in line %d; keep one of them"
                .formatted(name, ShownText.of(text), ShownText.of(found.text), found.line));
      }
      found = found == null ? new Value(text, each.line) : found;
    }
    return found == null || NOTHING.contains(found.text) ? null : found;
  }

  private String expanded(String name, Value value) {
    try {
      return expander.apply(value.text);
    } catch (ArithmeticException e) {
      throw BadInputException.at(
          file, value.line, "--%s is too large to count with; correct it".formatted(name));
    } catch (IllegalArgumentException e) {
      throw BadInputException.at(file, value.line, "--%s %s".formatted(name, e.getMessage()));
    }
  }

  /** The value as the file writes it, without expansion; empty where there is none. */
  String raw(String name) {
    List<Value> all = all(name);
    return all.isEmpty() ? "" : all.get(0).text;
  }

  /** Whether a flag has a value other than none. */
  public boolean says(String name) {
    return value(name) != null;
  }

  /** Whether a flag stands alone or is true. */
  public boolean flag(String name) {
    Value value = value(name);
    if (value == null) {
      return false;
    }
    return switch (value.text.toLowerCase(Locale.ROOT)) {
      case "true", "1" -> true;
      case "false", "0" -> false;
      default ->
          throw wrong(
              name, "--%s is %s; write true or false".formatted(name, ShownText.of(value.text)));
    };
  }

  /** A whole number ≥ 1; its absence is a mistake. */
  public int number(String name) {
    return optional(name)
        .orElseThrow(
            () -> BadInputException.at(file, 1, "--%s is missing; add it".formatted(name)));
  }

  /** A whole number ≥ 1, or 0 where the file says 0; empty where it says nothing. */
  public OptionalInt optional(String name) {
    Value value = value(name);
    if (value == null) {
      return OptionalInt.empty();
    }
    if (!value.text.matches("\\d{1,9}")) {
      throw wrong(
          name,
          "--%s is %s; expected a whole number below 1e9"
              .formatted(name, ShownText.of(value.text)));
    }
    return OptionalInt.of(Integer.parseInt(value.text));
  }

  /** A number ≥ 0 that the file writes as such; empty for anything else. */
  OptionalDouble decimal(String name) {
    String text = raw(name);
    return NUMBER.matcher(text).matches()
        ? OptionalDouble.of(Double.parseDouble(text))
        : OptionalDouble.empty();
  }

  /** A whole number, or the usual one where the file says none. */
  public int number(String name, int usual) {
    return optional(name).orElse(usual);
  }

  /** The value as text; empty where the file says none. */
  public Optional<String> word(String name) {
    return Optional.ofNullable(value(name)).map(Value::text);
  }

  /** One of {@code known}, the first where the file says nothing. */
  String word(String name, List<String> known) {
    String word = word(name).orElse(known.get(0));
    if (!known.contains(word)) {
      throw wrong(
          name,
          "--%s is %s, which is not supported yet; known are %s"
              .formatted(name, ShownText.of(word), String.join(", ", known)));
    }
    return word;
  }

  /** {@code mistake} in the line of a flag. */
  public BadInputException wrong(String name, String mistake) {
    List<Value> all = values.getOrDefault(name, List.of());
    return BadInputException.at(file, all.isEmpty() ? 1 : all.get(0).line, mistake);
  }
}
