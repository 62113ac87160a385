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

/** The published JSON Schemas, by name. */
final class JsonSchemas {
  static final Path FOLDER = Path.of("../docs/schemas");
  private static final String ADDRESS = "https://pipewright.dev/schemas/";
  private static final String ENDING = ".schema.json";

  private static final Map<String, String> TEXTS = texts();
  private static final SchemaRegistry REGISTRY =
      SchemaRegistry.withDefaultDialect(
          SpecificationVersion.DRAFT_2020_12, builder -> builder.schemas(TEXTS));

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

  static List<String> names() {
    return TEXTS.keySet().stream()
        .map(address -> address.replace(ADDRESS, "").replace(ENDING, ""))
        .toList();
  }

  /** What a schema says against a value; nothing where it accepts it. */
  static List<String> mistakes(String schema, JsonNode value) {
    return REGISTRY.getSchema(SchemaLocation.of(ADDRESS + schema + ENDING)).validate(value).stream()
        .map(Error::toString)
        .toList();
  }
}
