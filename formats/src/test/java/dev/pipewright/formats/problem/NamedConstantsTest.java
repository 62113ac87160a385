package dev.pipewright.formats.problem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.model.TransformerConstants;
import dev.pipewright.zoo.Transformers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NamedConstantsTest {
  private static TransformerConstants named(String name) {
    return NetworkNames.constants(name, Optional.empty());
  }

  /** A name stands for the same network as its authors' configuration. */
  @ParameterizedTest
  @CsvSource({
    "llama3.1-8b, meta-llama--Meta-Llama-3.1-8B",
    "llama3.1-70b, meta-llama--Meta-Llama-3.1-70B",
    "llama3-405b, meta-llama--Meta-Llama-3.1-405B",
    "mixtral-8x7b, mistralai--Mixtral-8x7B-v0.1",
    "qwen3-8b, Qwen--Qwen3-8B",
    "qwen3-30b-a3b, Qwen--Qwen3-30B-A3B",
    "deepseek-v3, deepseek-ai--DeepSeek-V3",
  })
  void areThoseOfTheReleasedConfiguration(String name, String configuration) {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(folder), "interop", "hf", configuration + ".config.json");
    assumeTrue(Files.exists(file), "no reference configuration " + file);
    assertEquals(NetworkNames.constants(file.toString(), Optional.empty()), named(name));
  }

  @Test
  void onlyReleasedDecodersHaveThem() {
    List<String> without =
        Transformers.names().stream()
            .filter(name -> named(name).equals(TransformerConstants.NONE))
            .toList();
    assertTrue(
        without.stream().allMatch(name -> name.matches("(gpt3|megatron|turing|t5|vit)-.*")),
        () -> "without constants: " + without);
    assertEquals(TransformerConstants.NONE, named("llama:layers=4"));
    assertEquals(Optional.empty(), named("llama3-8b").rotaryScaling());
    assertEquals(Optional.of("quick_gelu"), named("gpt-oss-20b").activation());
  }
}
