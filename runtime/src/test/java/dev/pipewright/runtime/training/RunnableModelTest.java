package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.formats.file.BadInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunnableModelTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          no-such | no-such: no such model; give a file or a name that `models` lists
          mlp:width=64 | mlp:width=64: 'width=64' is not understood; write key=number with a key of layers, hidden, in, classes
          """)
  void aMistakeIsSaidInOneSentence(String name, String sentence) {
    assertEquals(
        sentence, assertThrows(BadInputException.class, () -> RunnableModel.of(name)).getMessage());
  }

  @Test
  void aDecoderWithWhatNoModuleComputesIsNotTrained() {
    assertEquals(
        "deepseek-v2-lite: this network cannot be trained or measured: its layer block-1 has"
            + " multi-head latent attention, which the runtime does not compute; take a decoder with"
            + " grouped-query attention to whole sequences",
        assertThrows(
                BadInputException.class,
                () -> RunnableModel.toCompute("deepseek-v2-lite", OptionalInt.empty()))
            .getMessage());
    assertEquals(34, RunnableModel.toCompute("llama3-8b", OptionalInt.empty()).size());
  }

  /** As the form with a length has it, where learned positions are not of that length, too. */
  @Test
  void samplesHaveTheLengthThatIsChosen() {
    String sizes = "llama:layers=2,hidden=64,heads=4,kv-heads=2,ffn=128,vocabulary=128,sequence=";
    assertEquals(
        RunnableModel.of(sizes + 16).layers(),
        RunnableModel.of(sizes + 64, OptionalInt.of(16)).layers());
  }

  private static final String PROFILE =
      """
      {"format": "pipewright-profile", "version": 1, "model": "net", "precision": "fp32",
       "provenance": {"source": "test", "device": "none", "date": "2026-01-01", "measured": false},
       "layers": [
        {"name": "input", "operator": {"kind": "input"}, "parameters": 0, "output_elements": 8,
         "kept_elements": 0, "output_shape": [8], "output_bytes": 32, "kept_bytes": 0,
         "parameter_bytes": 0},
        {"name": "act", "operator": {"kind": "block", "name": "mish"}, "parameters": 0,
         "output_elements": 8, "kept_elements": 0, "output_shape": [8], "output_bytes": 32,
         "kept_bytes": 0, "parameter_bytes": 0}],
       "edges": [["input", "act"]],
       "batches": [{"samples": 1, "forward_s": [0, 1], "backward_s": [0, 1], "weight_gradient_s": [0, 0],
         "update_s": [0, 0]}]}
      """;

  @Test
  void aProfileThatDoesNotSayWhatALayerComputesIsNotTrained(@TempDir Path folder)
      throws IOException {
    Path file = Files.writeString(folder.resolve("net.json"), PROFILE);
    assertEquals(2, RunnableModel.of(file.toString()).size());
    assertEquals(
        file
            + ": this network cannot be trained or measured: of its layer act (mish) only sizes and"
            + " times are known; give a network all of whose layers are operators",
        assertThrows(
                BadInputException.class,
                () -> RunnableModel.toCompute(file.toString(), OptionalInt.empty()))
            .getMessage());
  }
}
