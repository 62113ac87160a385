package dev.pipewright.formats.json;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.InputFile;
import dev.pipewright.formats.file.ShortInput;
import dev.pipewright.formats.file.TextLines;
import java.io.ByteArrayInputStream;
import java.io.CharConversionException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.dataformat.yaml.YAMLFactory;
import tools.jackson.dataformat.yaml.YAMLParser;

/**
 * Reads a JSON or YAML file into {@link Node}s: one value, no key twice, no aliases, no more than
 * memory allows.
 */
public final class Tree {
  private static final Pattern NO_TEXT =
      Pattern.compile("UTF-8|UTF-16|UTF-32|CTRL-CHAR|special characters");

  /** More need more memory than a plan is worth. */
  private static final int MOST_VALUES = 2_000_000;

  /** Bytes of a YAML file, whose parser is slow and hungry. */
  private static final int MOST_YAML = 1 << 20;

  private final Path file;
  private final JsonParser parser;
  private int values;

  private Tree(Path file, JsonParser parser) {
    this.file = file;
    this.parser = parser;
  }

  public static Node json(Path file) {
    return JsonFile.read(file, parser -> new Tree(file, parser).root());
  }

  /**
   * JSON from memory.
   *
   * @param named what sentences on it call it
   */
  public static Node json(Path named, String text) {
    try (InputStream in = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8))) {
      return JsonFile.read(named, in, parser -> new Tree(named, parser).root());
    } catch (IOException e) {
      throw InputFile.unreadable(named, e);
    }
  }

  /** The values of a file to which a program appends them line by line; whole lines only. */
  public static List<Node> jsonLines(Path file) {
    return JsonFile.wholeLines(
        file,
        parser -> {
          Tree tree = new Tree(file, parser);
          List<Node> roots = new ArrayList<>();
          for (JsonToken next = parser.nextToken(); next != null; next = parser.nextToken()) {
            roots.add(tree.value(next, null, "", -1));
          }
          return roots;
        });
  }

  /** A JSON file that lies next to a class in the program. */
  public static Node resource(Class<?> owner, String name) {
    return JsonFile.resource(owner, name, parser -> new Tree(Path.of(name), parser).root());
  }

  /**
   * JSON is YAML too, but for tabs between its values: what looks like JSON is tried as such first.
   */
  public static Node yamlOrJson(Path file) {
    if (InputFile.first(file) == '{') {
      try {
        return json(file);
      } catch (BadInputException e) {
        if (file.toString().endsWith(".json")) {
          throw e;
        }
      }
    }
    return yaml(file);
  }

  private static Node yaml(Path file) {
    try (InputStream in = new ShortInput(InputFile.open(file), file, MOST_YAML);
        JsonParser parser = new YAMLFactory().createParser(ObjectReadContext.empty(), in)) {
      return new Tree(file, parser).root();
    } catch (JacksonException e) {
      throw malformed(file, e);
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
  }

  private static BadInputException malformed(Path file, JacksonException e) {
    if (e.getCause() instanceof IOException cause) {
      return InputFile.unreadable(file, cause);
    }
    TokenStreamLocation location = e.getLocation();
    int line = location == null ? 1 : Math.max(1, location.getLineNr());
    String reason =
        Arrays.stream(String.valueOf(e.getOriginalMessage()).split("\\R"))
            .filter(part -> !part.isEmpty() && !Character.isWhitespace(part.charAt(0)))
            .map(part -> part.replaceFirst(" \\(start marker at.*", ""))
            .collect(Collectors.joining(": "));
    if (NO_TEXT.matcher(reason).find()) {
      TextLines.check(file, "a YAML file");
    }
    if (reason.contains("CharConversionException")) {
      return InputFile.unreadable(file, new CharConversionException());
    }
    return BadInputException.at(
        file, line, "not valid YAML: " + reason + "; correct this line or the one before");
  }

  private Node root() {
    JsonToken first = parser.nextToken();
    if (first == null) {
      throw BadInputException.at(file, 1, "the file is empty; expected an object");
    }
    Node root = value(first, null, "", -1);
    if (parser.nextToken() != null) {
      throw BadInputException.at(
          file, line(), "a second value follows the first; a file holds one object");
    }
    return root;
  }

  private Node value(JsonToken token, @Nullable Node parent, String key, int index) {
    if (parser instanceof YAMLParser yaml && yaml.isCurrentAlias()) {
      throw BadInputException.at(
          file,
          line(),
          "the alias *" + parser.getString() + " is not supported; write the value out");
    }
    if (++values > MOST_VALUES) {
      throw BadInputException.at(
          file,
          line(),
          "the file holds more than %,d values; give a smaller one".formatted(MOST_VALUES));
    }
    Node node = new Node(file, line(), parent, key, index, type(token), scalar(token));
    if (token == JsonToken.START_OBJECT) {
      members(node);
    } else if (token == JsonToken.START_ARRAY) {
      JsonToken next = parser.nextToken();
      for (int i = 0; next != JsonToken.END_ARRAY; i++, next = parser.nextToken()) {
        node.elements().add(value(next, node, "", i));
      }
    }
    return node;
  }

  private void members(Node object) {
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String key = parser.currentName();
      int line = line();
      Node member = value(parser.nextToken(), object, key, -1);
      Node first = object.members().putIfAbsent(key, member);
      if (first != null) {
        throw BadInputException.at(
            file,
            line,
            "the key \"" + key + "\" stands twice, first in line " + first.line() + "; keep one");
      }
    }
  }

  private Node.Type type(JsonToken token) {
    return switch (token) {
      case START_OBJECT -> Node.Type.OBJECT;
      case START_ARRAY -> Node.Type.LIST;
      case VALUE_STRING -> Node.Type.TEXT;
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> Node.Type.NUMBER;
      case VALUE_TRUE, VALUE_FALSE -> Node.Type.FLAG;
      case VALUE_NULL -> Node.Type.NOTHING;
      default ->
          throw BadInputException.at(file, line(), "a value of an unknown type; expected JSON");
    };
  }

  private String scalar(JsonToken token) {
    return token.isScalarValue() ? parser.getString() : "";
  }

  private int line() {
    return Math.max(1, parser.currentTokenLocation().getLineNr());
  }
}
