package dev.pipewright.formats.model;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.json.JsonFile;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Recognises a {@code config.json} of Hugging Face's transformers, which describes a network by the
 * kind of its architecture and its sizes, and says how to name that network here.
 */
public final class HuggingFaceConfig {
  private static final String FORMAT = "format"; // of our own files

  private HuggingFaceConfig() {}

  /** Refuses such a configuration with a remedy; other files go to {@code reader}. */
  public static Function<Path, ModelFile> otherwise(Function<Path, ModelFile> reader) {
    return file -> {
      Optional<BadInputException> config = recognised(file);
      if (config.isPresent()) {
        throw config.get();
      }
      return reader.apply(file);
    };
  }

  /** What to answer where the file is such a configuration; empty where it is something else. */
  private static Optional<BadInputException> recognised(Path file) {
    Map<String, String> values = JsonFile.read(file, HuggingFaceConfig::values);
    boolean config = values.containsKey("model_type") || values.containsKey("architectures");
    if (!config || values.containsKey(FORMAT)) {
      return Optional.empty();
    }
    return Optional.of(
        BadInputException.in(
            file, "is a Hugging Face config, which is not read yet; " + remedy(values)));
  }

  /** The plain values of the outermost object, by key. */
  private static Map<String, String> values(JsonParser parser) {
    Map<String, String> values = new HashMap<>();
    if (parser.nextToken() != JsonToken.START_OBJECT) {
      return values;
    }
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String key = parser.currentName();
      JsonToken value = parser.nextToken();
      values.put(key, value.isScalarValue() ? parser.getString() : "");
      parser.skipChildren();
    }
    return values;
  }

  private static String remedy(Map<String, String> values) {
    String type = values.getOrDefault("model_type", "").toLowerCase(Locale.ROOT);
    if (!type.equals("gpt2") && !type.equals("openai-gpt")) {
      return (type.isEmpty() ? "its network" : type)
          + " is not in the zoo, whose gpt:… has GPT-2's blocks without grouped heads or gated"
          + " layers; give a profile of it, as the PyTorch profiler writes";
    }
    return "write gpt:layers=%d,hidden=%d,heads=%d,sequence=%d,vocabulary=%d"
        .formatted(
            number(values, "n_layer", 12),
            number(values, "n_embd", 768),
            number(values, "n_head", 12),
            number(values, "n_positions", number(values, "n_ctx", 1024)),
            number(values, "vocab_size", 50257));
  }

  /** What the file says, or otherwise what transformers takes where it says nothing. */
  private static long number(Map<String, String> values, String key, long usual) {
    try {
      String text = values.get(key);
      return text == null ? usual : Long.parseLong(text);
    } catch (NumberFormatException e) {
      return usual;
    }
  }
}
