package dev.pipewright.app.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * What manifests may say, field by field, as a strict API server takes them: no other fields, and
 * the type of each. A type is that of an object of {@code schema.json}, {@code [T]} a list of it,
 * {@code {T}} a map to it, {@code =a|b} one of some words.
 */
final class KubernetesSchema {
  private static final Path FILE = Path.of("src/test/resources/kubernetes/schema.json");
  private static final String LABEL = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";

  private final JsonNode types;
  private final List<String> mistakes = new ArrayList<>();

  private KubernetesSchema(JsonNode types) {
    this.types = types;
  }

  /** What is wrong with a manifest. */
  static List<String> mistakes(String yaml) {
    JsonNode types;
    try {
      types = new JsonMapper().readTree(Files.readString(FILE));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    JsonNode manifest = new YAMLMapper().readTree(yaml);
    KubernetesSchema schema = new KubernetesSchema(types);
    schema.check("", manifest, manifest.path("kind").asString("nothing"));
    return schema.mistakes;
  }

  private void check(String at, JsonNode value, String type) {
    if (type.startsWith("[")) {
      if (require(value.isArray(), at, value, type)) {
        for (int i = 0; i < value.size(); i++) {
          check(at + "/" + i, value.get(i), type.substring(1, type.length() - 1));
        }
      }
    } else if (type.startsWith("{")) {
      if (require(value.isObject(), at, value, type)) {
        String each = type.substring(1, type.length() - 1);
        value
            .properties()
            .forEach(entry -> check(at + "/" + entry.getKey(), entry.getValue(), each));
      }
    } else if (type.startsWith("=")) {
      boolean one =
          value.isString()
              && List.of(type.substring(1).split("\\|", -1)).contains(value.asString());
      require(one, at, value, type);
    } else {
      plain(at, value, type);
    }
  }

  private void plain(String at, JsonNode value, String type) {
    switch (type) {
      case "any" -> require(!value.isNull(), at, value, type);
      case "string" -> require(value.isString(), at, value, type);
      case "boolean" -> require(value.isBoolean(), at, value, type);
      case "integer" -> require(value.isInt() && value.asInt() >= 0, at, value, type);
      case "amount" -> require(value.isInt() || value.isString(), at, value, type);
      case "label" -> require(value.isString() && value.asString().matches(LABEL), at, value, type);
      default -> object(at, value, type);
    }
  }

  private void object(String at, JsonNode value, String type) {
    JsonNode known = types.path(type);
    if (!require(known.isObject() && value.isObject(), at, value, type)) {
      return;
    }
    for (Map.Entry<String, JsonNode> entry : value.properties()) {
      String field = known.get("fields").path(entry.getKey()).asString("");
      if (field.isEmpty()) {
        mistakes.add(at + "/" + entry.getKey() + " is no field of " + type);
      } else {
        check(at + "/" + entry.getKey(), entry.getValue(), field);
      }
    }
    for (JsonNode name : known.get("required")) {
      if (!value.has(name.asString())) {
        mistakes.add(at + "/" + name.asString() + " is missing");
      }
    }
  }

  private boolean require(boolean right, String at, JsonNode value, String type) {
    if (!right) {
      mistakes.add(at + " is " + value + " instead of " + type);
    }
    return right;
  }
}
