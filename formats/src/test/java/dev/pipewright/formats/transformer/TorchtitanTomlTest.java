package dev.pipewright.formats.transformer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.model.TransformerFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TorchtitanTomlTest {
  @TempDir Path folder;

  private TransformerFile read(String text) {
    assertTrue(TorchtitanToml.begins(text), text);
    return TorchtitanToml.read(Refusal.file(folder, "train.toml", text));
  }

  private TransformerFile read(String model, String flavor) {
    return read("[model]\nname = \"%s\"\nflavor = '%s' # x\n".formatted(model, flavor));
  }

  /** Of the checkpoints, and of the debug model by torchtitan's log. */
  @ParameterizedTest
  @CsvSource({
    "llama3, 8B, 8030261248",
    "llama3, 70B, 70553706496",
    "llama3, 405B, 405853388800",
    "llama3, debugmodel, 6163712",
    "qwen3, 0.6B, 596049920",
    "qwen3, 30B-A3B, 30532122624",
    "deepseek_v3, 16B, 15706484224",
    "deepseek_v3, 671B, 671026419200",
    "gpt_oss, 20b, 20914757184",
  })
  void flavorsHaveTheirParameters(String model, String flavor, long parameters) {
    TransformerFile read = read(model, flavor);
    assertEquals(parameters, read.shape().parameters());
    assertEquals(model + "-" + flavor, read.name());
    assertEquals(0, read.shape().predictionParameters());
  }

  @Test
  void otherValuesOfAnyKindArePassedOver() {
    String text =
        """
        # a comment
        [job]
        description = "a # in a text, and [brackets"
        list = ["a", 'b]', # why
          "c",
        ]
        table = {name = "no", flavor = "no"}
        long = \"""
        [model]
        name = "no"
        \"""
        when = 1979-05-27T07:32:00Z
        [ model ]
        name = "llama3"
        flavor = "8B"
        [training]
        seq_len = 1_024
        [quantize.linear.float8]
        filter.fqns = ["output"]
        """;
    TransformerFile read = TorchtitanToml.read(Refusal.file(folder, "t.toml", text));
    assertEquals(1024, read.shape().sequence());
    assertEquals("llama3-8B", read.name());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "name = \"x\"|1: the key model.flavor is missing; add it",
        "flavor = \"x\"|1: the key model.name is missing; add it",
        "name = \"flux\"\\nflavor = \"x\"|2: torchtitan's model \"flux\" is not supported yet; known are deepseek_v3, gpt_oss, llama3, qwen3",
        "name = \"llama3\"\\nflavor = \"9B\"|3: the flavor \"9B\" is not supported yet; known are 405B, 70B, 8B, debugmodel",
        "name = \"llama3\"\\nname = \"llama3\"|3: the key model.name stands twice, first in line 2; keep one",
        "name = \"llama3\"\\nflavor = \"8B\"\\n[training]\\nseq_len = 0|5: training.seq_len is 0; expected",
        "name \"llama3\"|2: \"name \"llama3\"\" is no line of TOML; write",
        "name = [\"llama3\"|2: the value does not end; close it",
      })
  void mistakesAreSaidInASentence(String lines, String expected) {
    Path file = Refusal.file(folder, "t.toml", "[model]\n" + lines.replace("\\n", "\n") + "\n");
    String said = Refusal.of(file, TorchtitanToml::read);
    assertTrue(said.startsWith("t.toml:" + expected), said);
  }

  @Test
  void torchtitansOwnFileIsRead() {
    @Nullable String reference = System.getProperty("reference.dir");
    assumeTrue(reference != null, "the system property reference.dir is not set");
    Path file =
        Path.of(String.valueOf(reference), "interop", "torchtitan", "llama3_405b.v0.2.2.toml");
    assumeTrue(Files.exists(file), "no reference configuration " + file);
    TransformerFile read = TorchtitanToml.read(file);
    assertEquals(405_853_388_800L, read.shape().parameters());
    assertEquals(8192, read.shape().sequence());
  }
}
