package dev.pipewright.formats.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CalibratedConstantsJsonTest {
  private static final String HEADINGS =
      "machine,devices,layers,hidden,heads,sequence,global_batch,framework,precision,tensor,pipeline";

  @TempDir Path folder;

  private Path file(String text) {
    try {
      return Files.writeString(folder.resolve("constants.json"), text);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static String shipped() {
    return CalibratedConstantsJson.text(CalibratedConstantsJson.shipped(), Map.of());
  }

  /** Planners ask for them for each way to divide layers and each size of slices. */
  @Test
  void theShippedOnesAreReadOnce() {
    assertSame(CalibratedConstantsJson.shipped(), CalibratedConstantsJson.shipped());
    assertSame(CalibratedConstantsJson.read(), CalibratedConstantsJson.read());
  }

  @Test
  void whatIsWrittenIsRead() {
    Path file =
        file(CalibratedConstantsJson.text(CalibratedConstantsJson.shipped(), Map.of("steps", 3)));
    assertEquals(CalibratedConstantsJson.shipped(), CalibratedConstantsJson.read(file));
    assertTrue(CalibratedConstantsJson.shipped().rows() > 400);
  }

  @Test
  void everyConstantSaysWhereItComesFrom() {
    for (CalibrationRecord.Constant each : CalibratedConstantsJson.shipped().constants()) {
      assertTrue(each.source().length() > 20, each.name());
      assertTrue(each.date().matches("20\\d\\d-\\d\\d-\\d\\d"), each.name());
      boolean fitted = each.source().startsWith("fitted");
      assertEquals(fitted, each.spread() > 0 && each.rows() > 0, each.name());
    }
  }

  /** Each is a place where a run finds no name of its own. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "mi300x-8x3200g,64,8,4096,32,4096,64,primus,bf16,8,1",
        "v100-32g-8x100g,64,8,4096,32,1024,64,megatron-deepspeed,fp16,8,2",
        "l40s-8x400g,8,8,4096,32,4096,64,torchtitan,bf16,1,1",
        "b300-8x6400g,64,8,4096,32,4096,64,maxtext,mxfp8,8,1",
        "gb300-nvl72,64,8,4096,32,4096,64,fms-fsdp,nvfp4,1,1",
        "b200-8x3200g,64,8,4096,32,4096,64,llm-foundry,fp8,1,1",
        "a100-80g-8x1600g,64,8,4096,32,4096,64,nemo-automodel,bf16,1,1",
        "h100-80g-8x3200g,64,8,4096,32,4096,64,megatron-2021,fp16,8,2"
      })
  void everyFrameworkAndChipFindsItsConstants(String row) {
    TrainingTable table = TrainingTable.read(file(HEADINGS + "\n" + row + "\n"));
    TransformerRun run = new TrainingRuns(MachineSheets.read()).of(table.rows().get(0));
    double seconds = TransformerOracle.seconds(run, CalibratedConstantsJson.read());
    assertTrue(seconds > 0 && Double.isFinite(seconds), row);
  }

  @Test
  void aRunReadsOnlyTheConstantsOfItsChipAndFramework() {
    TrainingTable table =
        TrainingTable.read(
            file(HEADINGS + "\nh100-80g-8x3200g,64,8,4096,32,4096,64,nemo,bf16,8,1\n"));
    TransformerRun run = new TrainingRuns(MachineSheets.read()).of(table.rows().get(0));
    Set<String> read = TransformerOracle.constantsRead(run, CalibratedConstantsJson.read());
    assertTrue(
        read.containsAll(List.of("eps.half", "phi.cudnn", "ew.mcore", "bus", "eta")), "" + read);
    for (String other :
        List.of("eps.a100.half", "ew.xla", "clock.b200", "speed.nemo.25.01", "phi")) {
      assertTrue(!read.contains(other), other);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      value = {
        "\"name\": \"eta\"#\"name\": \"eta2\"#has no constant \"eta\"",
        "\"name\": \"eta\"#\"name\": \"bus\"#twice",
        "\"class\": \"moe\", \"inside\": [#\"class\": \"moe\", \"inside\": [1, #two ends",
        "\"hidden\": [#\"hidden\": [1, #two sizes",
        "\"name\": \"eta\", \"value\": 0.#\"name\": \"eta\", \"value\": -0.#1e-9",
      })
  void aMistakeIsNamedWithItsPlace(String old, String wrong, String said) {
    // the same set on single lines, so that texts to replace are whole
    String text = shipped().replaceAll("\\s+", " ");
    assertTrue(text.contains(old), old);
    Path file = file(text.replaceFirst(Pattern.quote(old), wrong));
    String message =
        String.valueOf(
            assertThrows(BadInputException.class, () -> CalibratedConstantsJson.read(file))
                .getMessage());
    assertTrue(message.startsWith(file.toString()) && message.contains(said), message);
  }
}
