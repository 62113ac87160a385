package dev.pipewright.formats.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.predict.transformer.SoftwareStack;
import dev.pipewright.predict.transformer.TransformerRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables of training runs: defaults, and a sentence with its place for every mistake. */
class TrainingTableTest {
  private static final String HEADINGS =
      "machine,layers,hidden,heads,sequence,global_batch,devices";
  private static final String RUN = "h100-80g-8x3200g,4,1024,16,2048,64,8";

  @TempDir private Path folder;

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("runs.csv"), text);
  }

  private TransformerRun run(String headings, String cells) throws IOException {
    TrainingTable table = TrainingTable.read(file(HEADINGS + headings + "\n" + RUN + cells + "\n"));
    return new TrainingRuns(MachineSheets.read()).of(table.rows().get(0));
  }

  @Test
  void emptyAndMissingCellsHaveDefaults() throws IOException {
    TransformerRun run = run(",tensor,data,vocabulary,note", ",2,,,");
    assertEquals(4, run.layout().data());
    assertEquals(1, run.layout().pipeline());
    assertEquals(64 / 4, run.layout().microBatches());
    assertEquals(50_432, run.shape().inputParameters() / 1024); // a multiple of 128 × 2
    assertTrue(run.fusedAttention() && !run.layout().sequenceParallel());
  }

  @Test
  void compiledKernelsAndAsynchronousTensorParallelismAreColumns() throws IOException {
    SoftwareStack stated =
        run(",framework,eager,async_tensor_parallel", ",torchtitan,1,1").software();
    assertTrue(stated.eager() && stated.asyncTensorParallel(), stated::toString);
    SoftwareStack usual = run(",framework", ",torchtitan").software();
    assertFalse(usual.eager() || usual.asyncTensorParallel(), usual::toString);
  }

  @Test
  void noFreeTextChangesARun() throws IOException {
    String words = ",framework,note,attention_note,unknown,recipe,source,environment,golden_date";
    for (String flags : List.of("", ",transformer_impl,deterministic")) {
      String filled = flags.isEmpty() ? "" : ",transformer_engine,1";
      String said = "eager async-tp unfused selective";
      TransformerRun free =
          run(words + flags, (",torchtitan" + ("," + said).repeat(5) + ",lts,2024-01") + filled);
      TransformerRun silent = run(words + flags, ",torchtitan" + ",".repeat(7) + filled);
      assertEquals(silent, free, flags);
    }
  }

  @Test
  void theNetworkIsSet() throws IOException {
    TransformerRun run = run(",network", ",x");
    long attention = 4L * 1024 * 1024;
    long perceptron = 8L * 1024 * 1024;
    long norms = 1024; // RMS
    assertEquals(
        4 * (attention + perceptron + 2 * norms) + norms + 50_304L * 1024,
        run.shape().parameters());
  }

  @Test
  void networksOfMachinesComeFromTheirNames() throws IOException {
    GivenMachine selene = new GivenMachine("a100-80g-8x1600g", 25e9, 8);
    GivenMachine rack = new GivenMachine("gb300-nvl72", 100e9, 64);
    for (GivenMachine given : List.of(selene, rack)) {
      var machine = MachineSheets.read().find(given.name);
      assertEquals(given.network, machine.networkBandwidth(), given.name);
      assertEquals(given.domain, machine.domain(), given.name);
    }
  }

  private record GivenMachine(String name, double network, int domain) {}

  @Test
  void quotedCellsHoldCommasAndQuotes() throws IOException {
    String text = HEADINGS + ",id,layout,pipeline\n" + RUN + ",\"a \"\"b\"\", c\",\"Ett|t,tL\",2\n";
    TrainingTable table = TrainingTable.read(file(text));
    assertEquals("a \"b\", c", table.rows().get(0).id());
    TransformerRun run = new TrainingRuns(MachineSheets.read()).of(table.rows().get(0));
    assertEquals(2, run.split().chunks().get(1).layers());
    PredictedTable predicted = PredictedTable.of(table);
    assertTrue(predicted.csv().contains(",\"a \"\"b\"\", c\",\"Ett|t,tL\",2,"), predicted.csv());
  }

  @Test
  void unknownColumnsArePassedThroughAndNamed() throws IOException {
    String text = HEADINGS + ",colour,iteration_s,weather\n" + RUN + ",red,1.5,fine\n";
    TrainingTable table = TrainingTable.read(file(text));
    assertEquals(List.of("colour", "weather"), table.unknown());
    String csv = PredictedTable.of(table).csv();
    assertTrue(csv.startsWith(HEADINGS + ",colour,iteration_s,weather,predicted_"), csv);
    assertTrue(csv.contains("\n" + RUN + ",red,1.5,fine,"), csv);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        ",tensr; ,2; 1:8: unknown column \"tensr\"; did you mean \"tensor\"?",
        ",Tensor; ,2; 1:8: unknown column \"Tensor\"; did you mean \"tensor\"?",
        ",micro-batch; ,2; 1:8: unknown column \"micro-batch\"; did you mean \"micro_batch\"?",
        ",tensor,tensor; ,2,2; 1:9: the column \"tensor\" stands twice; keep one",
        ",tensor; ,two; 2:8: tensor=two is no whole number; write digits",
        ",tensor; ,-2; 2:8: tensor=-2 is no whole number; write digits",
        ",tensor; ,1.5; 2:8: tensor=1.5 is no whole number; write digits",
        ",tensor; ,2,3; 2:9: 9 values stand under 8 headings; write one for each",
        ",tensor; ,3; 2:7: devices=8 are not tensor=3 × pipeline=1 × context=1 × data=2; correct",
        ",tensor,data; ,3,; 2:7: devices=8 are not tensor=3",
        ",precision; ,fp7; 2:8: precision=fp7 is unknown; did you mean",
        ",grads; ,fp23; 2:8: grads=fp23 is unknown; did you mean \"fp32\"?",
        ",tied; ,maybe; 2:8: tied=maybe is neither yes nor no; write 1 or 0",
        ",recompute; ,some; 2:8: recompute=some is unknown; one of none, full, selective",
        ",mla; ,64/8; 2:8: mla=64/8 are not five sizes; write those of",
        ",zero; ,4; 2:8: zero=4 is no ZeRO stage; write 0 to 3",
        ",micro_batch; ,3; 2:6: global_batch=64 is no multiple of data=8 × micro_batch=3; correct",
        ",layout,pipeline; ,Ett|tL,2; 2:2: layers=4, but the split of the pipeline holds 3; correct",
        ",layout,pipeline; ,Ett|xL,2; 2:8: --megatron-layout: \"Ett|xL\" has the invalid layer",
        ",kv_heads; ,5; 2:4: heads=16 is no multiple of key_value_heads=5",
        ",moe_layer_freq,experts; ,[1]*3,8; 2:8: moe_layer_freq lists 3 layers of layers=4; write",
        ",experts,top_k; ,4,8; 2:2: experts_per_token=8 is not from 1 to experts=4; correct",
        ",note; ,\"x; 2:8: the quote is not closed in this line; add one",
        ",note; ,\"x\"y; 2:8: a comma is missing after the quote; add it or double the quote",
        ",pipeline; ,8; 2:2: layers=4 are fewer than the 8 chunks of the pipeline; lower"
      })
  void mistakesHaveAPlaceAndARemedy(String headings, String cells, String said) {
    BadInputException wrong =
        assertThrows(BadInputException.class, () -> run(headings.strip(), cells.strip()));
    String place = folder.resolve("runs.csv") + ":";
    assertTrue(
        String.valueOf(wrong.getMessage()).startsWith(place + said), wrong.getMessage() + "");
  }

  @Test
  void machinesAndPrecisionsThatDoNotExistAreRefused() throws IOException {
    Path file = file(HEADINGS + ",precision\n" + RUN.replace("h100", "h101") + ",bf16\n");
    BadInputException wrong =
        assertThrows(BadInputException.class, () -> PredictedTable.of(TrainingTable.read(file)));
    assertTrue(
        (wrong.getMessage() + "")
            .contains(":2:1: machine=h101-80g-8x3200g is unknown; did you mean \"h100-80g\"?"),
        wrong.getMessage() + "");
    Path narrow = file(HEADINGS + ",precision\n" + RUN.replace("h100", "a100") + ",fp8\n");
    wrong =
        assertThrows(BadInputException.class, () -> PredictedTable.of(TrainingTable.read(narrow)));
    assertTrue(
        (wrong.getMessage() + "")
            .contains(":2:8: precision=fp8 is beyond machine=a100-80g-8x3200g"),
        wrong.getMessage() + "");
  }

  @ParameterizedTest
  @CsvSource({"''", "'machine,layers\nx,2\n'", "'\n\n'"})
  void tablesWithoutRunsOrNeededColumnsAreRefused(String text) throws IOException {
    Path file = file(text);
    BadInputException wrong = assertThrows(BadInputException.class, () -> TrainingTable.read(file));
    assertTrue(
        (wrong.getMessage() + "").matches("(?s).*(holds no runs; write|there is no column).*"),
        wrong.getMessage() + "");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-1",
        "0",
        "1",
        "7",
        "1e9",
        "268435456",
        "99999999999",
        "x",
        "1;2",
        "1;2;3;4;99999999999",
        "(",
        "([0]*3",
        "Et|tL",
        "(t)*99999999",
        "NaN",
        "1e-3",
        "full",
        "selective",
        "h100-0x0g"
      })
  void anyCellIsPredictedOrRefusedInASentence(String value) throws IOException {
    List<String> columns =
        List.of(
            HEADINGS.split(",", -1)[0],
            "layers",
            "hidden",
            "heads",
            "sequence",
            "global_batch",
            "devices",
            "kv_heads",
            "head_dim",
            "ffn",
            "gated",
            "tied",
            "vocabulary",
            "micro_batch",
            "tensor",
            "data",
            "pipeline",
            "context",
            "interleave",
            "expert",
            "expert_tensor",
            "experts",
            "top_k",
            "moe_ffn",
            "shared_ffn",
            "dense_layers_first",
            "moe_every",
            "mla",
            "mtp",
            "sequence_parallel",
            "zero",
            "fsdp_degree",
            "embedding_in_split",
            "layout",
            "recompute",
            "recompute_detail",
            "offload_layers",
            "precision",
            "grads",
            "attention",
            "framework",
            "release",
            "moe_layer_freq",
            "max_position",
            "hidden_dropout");
    for (String column : columns) {
      List<String> headings = new ArrayList<>(List.of(HEADINGS.split(",", -1)));
      List<String> cells = new ArrayList<>(List.of(RUN.split(",", -1)));
      if (headings.contains(column)) {
        cells.set(headings.indexOf(column), value);
      } else {
        headings.add(column);
        cells.add(value);
      }
      Path file = file(String.join(",", headings) + "\n" + String.join(",", cells) + "\n");
      try {
        String answer = PredictedTable.of(TrainingTable.read(file)).json();
        assertTrue(!answer.contains("null"), column + "=" + value + ": " + answer);
      } catch (BadInputException e) {
        String said = e.getMessage() + "";
        assertTrue(said.startsWith(file + ":2"), column + "=" + value + ": " + said);
        assertTrue(said.matches("(?s)[^;]*:2(:\\d+)?: [a-zA-Z-].*; .*"), said);
      }
    }
  }
}
