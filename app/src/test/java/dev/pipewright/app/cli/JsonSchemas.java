package dev.pipewright.app.cli;

import com.networknt.schema.Error;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * The published JSON Schemas, by name. Those of answers allow further keys, as later versions may
 * write some; closed, they allow only the keys that they describe.
 */
final class JsonSchemas {
  static final Path FOLDER = Path.of("../docs/schemas");
  private static final String ADDRESS = "https://pipewright.dev/schemas/";
  private static final String ENDING = ".schema.json";

  private static final String OPEN = "\"additionalProperties\": true";
  private static final String CLOSED = "\"additionalProperties\": false";

  private static final Map<String, String> TEXTS = texts();
  private static final SchemaRegistry PUBLISHED = registry(TEXTS);
  private static final SchemaRegistry STRICT = registry(closed());

  private JsonSchemas() {}

  private static Map<String, String> texts() {
    try (Stream<Path> files = Files.list(FOLDER)) {
      Map<String, String> texts = new TreeMap<>();
      for (Path file : files.toList()) {
        texts.put(ADDRESS + file.getFileName(), Files.readString(file));
      }
      return texts;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<String, String> closed() {
    Map<String, String> closed = new TreeMap<>(TEXTS);
    closed.replaceAll((address, text) -> text.replace(OPEN, CLOSED));
    return closed;
  }

  private static SchemaRegistry registry(Map<String, String> texts) {
    return SchemaRegistry.withDefaultDialect(
        SpecificationVersion.DRAFT_2020_12, builder -> builder.schemas(texts));
  }

  static List<String> names() {
    return TEXTS.keySet().stream()
        .map(address -> address.replace(ADDRESS, "").replace(ENDING, ""))
        .toList();
  }

  /** What a published schema says against a value; nothing where it accepts it. */
  static List<String> mistakes(String schema, JsonNode value) {
    return mistakes(PUBLISHED, schema, value);
  }

  /** The same of the closed schema, which also names keys that it does not describe. */
  static List<String> strictMistakes(String schema, JsonNode value) {
    return mistakes(STRICT, schema, value);
  }

  private static List<String> mistakes(SchemaRegistry registry, String schema, JsonNode value) {
    return registry.getSchema(SchemaLocation.of(ADDRESS + schema + ENDING)).validate(value).stream()
        .map(Error::toString)
        .toList();
  }
}
