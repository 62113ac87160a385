package dev.pipewright.formats.transformer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.zoo.Transformers;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CalculonModelTest {
  @TempDir Path folder;

  private static final String MODEL =
      "{\"hidden\": 64, \"feedforward\": 256, \"seq_size\": 32, \"attn_heads\": 4,"
          + " \"attn_size\": 16, \"num_blocks\": 3}";

  @Test
  void blocksAreThoseOfAGptWithoutItsEnds() {
    assertTrue(CalculonModel.begins(MODEL));
    TransformerShape shape = CalculonModel.read(Refusal.file(folder, "m.json", MODEL)).shape();
    assertEquals(3 * (12 * 64 * 64 + 13 * 64), shape.parameters());
    assertEquals(32, shape.sequence());
  }

  /** Megatron's four networks, whose blocks the zoo has with their ends. */
  @ParameterizedTest
  @CsvSource({
    "gpt3-175B, gpt3-175b",
    "megatron-22B, megatron-22b",
    "turing-530B, turing-530b",
    "megatron-1T, megatron-1t",
  })
  void calculonsOwnModelsHaveTheBlocksOfTheZoo(String file, String name) {
    @Nullable String reference = System.getProperty("reference.dir");
    assumeTrue(reference != null, "the system property reference.dir is not set");
    Path path = Path.of(String.valueOf(reference), "calculon", "models", file + ".json");
    assumeTrue(Files.exists(path), "no reference model " + path);
    TransformerShape zoo = Transformers.find(name).orElseThrow().shape();
    TransformerShape read = CalculonModel.read(path).shape();
    assertEquals(zoo.stack().blocks(), read.stack().blocks());
    assertEquals(zoo.hidden(), read.hidden());
    assertEquals(zoo.sequence(), read.sequence());
  }

  private void refused(String text, String expected) {
    String said = Refusal.of(Refusal.file(folder, "m.json", text), CalculonModel::read);
    assertTrue(said.startsWith("m.json:1: " + expected), said);
  }

  @Test
  void mistakesAreSaidInASentence() {
    refused(MODEL.replace("\"hidden\": 64, ", ""), "the key \"hidden\" is missing; add it");
    refused(MODEL.replace("hidden", "hiden"), "unknown key \"hiden\"; did you mean \"hidden\"?");
    refused(MODEL.replace("3}", "0}"), "num_blocks is the number 0; expected a whole number >= 1");
    refused(MODEL.replace("3}", "99999}"), "layers=99999 is out of range; write 1 to 16384");
    refused(
        MODEL.replace("256", "999999999"),
        "feed_forward_width=999999999 is out of range; write 1 to 16777216");
    refused(MODEL.replace("64", "\"64\""), "hidden is the text \"64\"; expected a whole number");
  }
}
