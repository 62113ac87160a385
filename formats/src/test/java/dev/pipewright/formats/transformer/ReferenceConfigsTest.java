package dev.pipewright.formats.transformer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.model.TransformerFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Configurations that people publish: counts to the last element, or a refusal by name. */
class ReferenceConfigsTest {
  private static Path reference(String name) {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(folder), "interop", "hf", name);
    assumeTrue(Files.exists(file), "no reference configuration " + file);
    return file;
  }

  @Test
  void parametersAndActiveParametersAreExact() throws IOException {
    Path counts = reference("parameter-counts.json");
    JsonNode expected = JsonMapper.shared().readTree(Files.readString(counts));
    assertTrue(expected.size() >= 7, "too few counts");
    for (Map.Entry<String, JsonNode> each : expected.properties()) {
      TransformerFile read = HuggingFaceConfig.read(reference(each.getKey()));
      assertEquals(
          each.getValue().get("parameters").asLong(), read.shape().parameters(), each.getKey());
      assertEquals(
          each.getValue().get("active").asLong(), read.shape().activeParameters(), each.getKey());
    }
  }

  @Test
  void everyConfigurationIsReadOrRefusedByName() throws IOException {
    Map<String, String> refused = new TreeMap<>();
    try (Stream<Path> files = Files.list(reference("parameter-counts.json").getParent())) {
      for (Path file : files.filter(each -> each.toString().endsWith(".config.json")).toList()) {
        try {
          assertTrue(HuggingFaceConfig.read(file).shape().parameters() > 1_000_000);
        } catch (BadInputException e) {
          String said = String.valueOf(e.getMessage());
          refused.put(
              String.valueOf(file.getFileName()).replace(".config.json", ""),
              said.substring(file.toString().length()).replaceFirst("; .*", ""));
        }
      }
    }
    Map<String, String> expected =
        Map.of(
            "Qwen--Qwen3.5-35B-A3B",
            ":67: the Hugging Face model type \"qwen3_5_moe_text\" is not supported yet",
            "clip-vit-large-patch14",
            ":49: the Hugging Face model type \"clip_text_model\" is not supported yet",
            "deepseek-ai--DeepSeek-V4-Flash",
            ":21: the Hugging Face model type \"deepseek_v4\" is not supported yet");
    assertEquals(new TreeMap<>(expected), refused);
  }
}
