package dev.pipewright.formats.json;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.InputFile;
import dev.pipewright.formats.file.ShortInput;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** Reads JSON value by value; where it is none, a sentence says what is wrong and where. */
public final class JsonFile {
  /** The largest file that is read: a second or two of work. */
  public static final int MOST_BYTES = 1 << 27;

  private JsonFile() {}

  /** What {@code reader} makes of the file; throws {@link BadInputException}. */
  public static <T> T read(Path file, Function<JsonParser, T> reader) {
    try (InputStream in = new ShortInput(InputFile.open(file), file, MOST_BYTES);
        JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), in)) {
      return worded(file, parser, reader);
    } catch (JacksonException e) { // before the first value
      throw JsonMistake.of(file, e);
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
  }

  /** The keys of a file's object; throws {@link BadInputException} where the file is no JSON. */
  public static Set<String> keys(Path file) {
    return read(
        file,
        parser -> {
          Set<String> keys = new LinkedHashSet<>();
          parser.nextToken();
          while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            keys.add(parser.currentName());
            parser.nextToken();
            parser.skipChildren();
          }
          return keys;
        });
  }

  /**
   * What {@code reader} makes of an opened file of any length, which the reader does not keep in
   * memory.
   */
  public static <T> T read(Path file, InputStream in, Function<JsonParser, T> reader)
      throws IOException {
    try (JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), in)) {
      return worded(file, parser, reader);
    } catch (JacksonException e) { // before the first value
      throw JsonMistake.of(file, e);
    }
  }

  /**
   * The same for the whole lines of a file: what a program that was killed left after the last line
   * feed is no part of it.
   */
  public static <T> T wholeLines(Path file, Function<JsonParser, T> reader) {
    try (InputStream in = new ShortInput(InputFile.open(file), file, MOST_BYTES)) {
      byte[] bytes = in.readAllBytes();
      int end = bytes.length;
      while (end > 0 && bytes[end - 1] != '\n') {
        end--;
      }
      try (JsonParser parser =
          new JsonFactory().createParser(ObjectReadContext.empty(), bytes, 0, end)) {
        return worded(file, parser, reader);
      }
    } catch (JacksonException e) { // before the first value
      throw JsonMistake.of(file, e);
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
  }

  /** The same for a file that lies next to a class in the program. */
  public static <T> T resource(Class<?> owner, String name, Function<JsonParser, T> reader) {
    Path file = Path.of(name);
    try (InputStream in = owner.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("the program lacks its file " + name);
      }
      try (JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), in)) {
        return worded(file, parser, reader);
      }
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
  }

  private static <T> T worded(Path file, JsonParser parser, Function<JsonParser, T> reader) {
    try {
      return reader.apply(parser);
    } catch (JacksonException e) {
      throw JsonMistake.of(file, e, parser);
    }
  }
}
