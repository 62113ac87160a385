package dev.pipewright.formats.json;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Nearest;
import dev.pipewright.units.Range;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A value of a JSON or YAML file that knows where it stands, so that every mistake is reported with
 * its file, line and place. Reading a value as something that it is not is such a mistake.
 */
public final class Node {
  public enum Type {
    OBJECT("an object"),
    LIST("a list"),
    TEXT("the text"),
    NUMBER("the number"),
    FLAG("the truth value"),
    NOTHING("null");

    private final String words;

    Type(String words) {
      this.words = words;
    }
  }

  private static final Pattern NUMBER = Pattern.compile("-?(\\d+\\.?\\d*|\\.\\d+)([eE][-+]?\\d+)?");

  private final Path file;
  private final int line;
  private final @Nullable Node parent;
  private final String key; // in an object
  private final int index; // in a list
  private final Type type;
  private final String text;
  private final Map<String, Node> members;
  private final List<Node> elements;

  /**
   * Files may have millions of values, so that each takes little room.
   *
   * @param key what the parent calls it, where that is an object
   * @param index its place, where the parent is a list; −1 otherwise
   * @param text the value as written; empty for objects and lists
   */
  Node(Path file, int line, @Nullable Node parent, String key, int index, Type type, String text) {
    this.file = file;
    this.line = line;
    this.parent = parent;
    this.key = key;
    this.index = index;
    this.type = type;
    this.text = text;
    this.members = type == Type.OBJECT ? new LinkedHashMap<>() : Map.of();
    this.elements = type == Type.LIST ? new ArrayList<>() : List.of();
  }

  /** Those of an object. */
  public Map<String, Node> members() {
    return members;
  }

  /** Those of a list. */
  public List<Node> elements() {
    return elements;
  }

  public int line() {
    return line;
  }

  public boolean is(Type asked) {
    return type == asked;
  }

  /** {@code layers[3].operator}; empty for the root. */
  public String place() {
    if (parent == null) {
      return "";
    }
    String before = parent.place();
    if (index >= 0) {
      return before + "[" + index + "]";
    }
    return before.isEmpty() ? key : before + "." + key;
  }

  /** {@code mistake} about this value. */
  public BadInputException wrong(String mistake) {
    return BadInputException.at(file, line, mistake);
  }

  /** {@code mistake} about values that read well, but cannot be together. */
  public BadInputException unsound(String mistake) {
    return BadInputException.unsound(file, line, mistake);
  }

  private BadInputException expected(String what) {
    String shown = text.length() <= 60 ? text : text.substring(0, 57) + "...";
    String value =
        switch (type) {
          case TEXT -> " \"" + shown + "\"";
          case NUMBER, FLAG -> " " + shown;
          case OBJECT, LIST, NOTHING -> "";
        };
    String name = parent == null ? "the file" : place();
    return wrong(name + " is " + type.words + value + "; expected " + what);
  }

  /** The members of an object that may have the {@code known} keys and no others. */
  public Fields object(List<String> known) {
    Fields fields = object();
    members.forEach((key, member) -> {
      if (!known.contains(key)) {
        String where = parent == null ? "" : " in " + place();
        throw member.wrong("unknown key \"" + key + "\"" + where + "; " + Nearest.hint(key, known));
      }
    });
    return fields;
  }

  /** The members of an object whose keys depend on one of them. */
  public Fields object() {
    if (type != Type.OBJECT) {
      throw expected("an object");
    }
    return new Fields(this);
  }

  /** The elements of a list. */
  public List<Node> list() {
    if (type != Type.LIST) {
      throw expected("a list");
    }
    return elements;
  }

  public String text() {
    if (type != Type.TEXT) {
      throw expected("text (in quotes)");
    }
    return text;
  }

  /** A text, number, truth value or null as written; anything else is a mistake. */
  public String scalar() {
    if (type == Type.OBJECT || type == Type.LIST) {
      throw expected("one value");
    }
    return text;
  }

  public boolean flag() {
    if (type != Type.FLAG) {
      throw expected("true or false");
    }
    return text.equals("true");
  }

  /** One of the words, by what each stands for. */
  public <T> T word(Map<String, T> words) {
    T meant = type == Type.TEXT ? words.get(text) : null;
    if (meant == null) {
      throw expected("one of " + String.join(", ", words.keySet()));
    }
    return meant;
  }

  /** 0, or a number in {@code range}. */
  public double amount(Range range) {
    String what = "0 or " + range;
    double number = number(what);
    if (!range.holds(number)) {
      throw expected(what);
    }
    return number + 0.0; // no negative zero
  }

  /** A number in {@code range}. */
  public double positive(Range range) {
    double number = number(range.toString());
    if (!range.positive(number)) {
      throw expected(range.toString());
    }
    return number;
  }

  /** Any number, also a negative one. */
  public double finite() {
    return number("a number");
  }

  private double number(String what) {
    if (type != Type.NUMBER || !NUMBER.matcher(text).matches()) {
      throw expected(what);
    }
    return Double.parseDouble(text);
  }

  /** A whole number, also a negative one, that is no larger than {@code most} either way. */
  public int within(int most) {
    String what = "a whole number from " + -most + " to " + most;
    double number = number(what);
    if (!(-most <= number && number <= most && number == Math.rint(number))) {
      throw expected(what);
    }
    return (int) number;
  }

  /** A whole number that fits an {@code int}. */
  public int count(int least) {
    return (int) whole(least, Integer.MAX_VALUE);
  }

  /** A whole number in {@code range}. */
  public int count(Range range) {
    return (int) whole((long) range.least(), (long) range.most());
  }

  /** A whole number from {@code least} to {@code most}; {@code 1e6} is one. */
  public long whole(long least, long most) {
    String what = "a whole number >= " + least;
    what += number(what) > most ? " and <= " + most : "";
    try {
      long value = new BigDecimal(text).longValueExact();
      if (least <= value && value <= most) {
        return value;
      }
    } catch (ArithmeticException | NumberFormatException e) {
      // said below, as for one out of range
    }
    throw expected(what);
  }

  /** Any whole number: a name rather than a count. */
  public long id() {
    return whole(Long.MIN_VALUE, Long.MAX_VALUE);
  }

  /** A number from 0 to below 1. */
  public double shareBelowOne() {
    double share = amount(Range.FACTOR);
    if (share >= 1) {
      throw wrong("%s is all of it; write a share below 1".formatted(share));
    }
    return share;
  }

  /**
   * What {@code made} makes of values that were read; its complaints become a mistake in this line.
   */
  public <T> T checked(Supplier<T> made) {
    try {
      return made.get();
    } catch (BadInputException e) {
      throw e; // a sentence already
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw unsound(String.valueOf(e.getMessage()));
    }
  }
}
