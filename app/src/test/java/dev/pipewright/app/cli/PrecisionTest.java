package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** No answer is silent about precision, batch and throughput, nor about what memory is for. */
class PrecisionTest {
  private static final String GPT = "gpt:layers=6,hidden=256,heads=4,sequence=128,vocabulary=1000";
  private static final String[] KEYS = {
    "precision",
    "optimizer",
    "global_batch",
    "micro_batch_per_rank",
    "samples_per_s",
    "tokens_per_s",
    "tflops_per_device",
    "mfu",
    "memory_reserve"
  };

  @TempDir Path folder;

  private static Cli plan(String... more) {
    String[] asked = {"plan", GPT, "--cluster", "dgx-h100:1x4", "--global-batch", "16"};
    String[] all = java.util.Arrays.copyOf(asked, asked.length + more.length);
    System.arraycopy(more, 0, all, asked.length, more.length);
    return Cli.run(all);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "auto",
        "exact",
        "data",
        "straight",
        "gpipe",
        "torchgpipe",
        "capture",
        "mcap",
        "madpipe",
        "pipedream",
        "pipedream-2bw"
      })
  void everyPlannerSaysWhatItTrainsWithAndHowFast(String planner) {
    JsonNode json = plan("--planner", planner, "--json").ends(0).json();
    for (String key : KEYS) {
      assertTrue(json.hasNonNull(key), planner + " does not say " + key);
    }
    assertEquals("bf16", json.get("precision").asString());
    assertEquals(16, json.get("global_batch").asInt());
    assertEquals(0.06, json.get("memory_reserve").asDouble());
    double samples = json.get("samples_per_s").asDouble();
    assertEquals(128 * samples, json.get("tokens_per_s").asDouble(), 1e-6 * samples);
    double flops = json.get("tflops_per_device").asDouble();
    assertEquals(flops / 989.5, json.get("mfu").asDouble(), 1e-12);
    String text = plan("--planner", planner).ends(0).out();
    assertTrue(text.contains("samples/s") && text.contains("tokens/s"), text);
    assertTrue(text.contains("FLOP/s") && text.contains("per rank"), text);
    assertTrue(text.contains("bf16") && text.contains("adam"), text);
  }

  @Test
  void aPlanSaysWhatItsMemoryIsFor() {
    JsonNode stage =
        plan("--planner", "dapple", "--stages", "2", "--json").ends(0).json().at("/plan/stages/0");
    JsonNode memory = stage.get("memory");
    long sum = 0;
    for (String key :
        new String[] {
          "parameters", "gradients", "optimizer", "activations", "workspace", "buffers"
        }) {
      sum += memory.get(key + "_bytes").asLong();
    }
    assertEquals(stage.get("memory_bytes").asLong(), sum);
    long parameters = memory.get("parameters_bytes").asLong() / 2;
    assertEquals(4 * parameters, memory.get("gradients_bytes").asLong());
    assertEquals(12 * parameters, memory.get("optimizer_bytes").asLong());
    String text = plan("--stages", "2").ends(0).out();
    assertTrue(text.contains("gradients  optimizer  activations"), text);
  }

  /** GPT-2 XL has 1,557,611,200 parameters; state is 18 bytes of each. */
  @ParameterizedTest
  @CsvSource({
    "serial, 1, 28_037_001_600",
    "zero1, 4, 14_018_500_800", // 6 + 12 / 4
    "zero2, 4, 9_345_667_200", // 2 + 16 / 4
    "zero3, 4, 7_009_250_400" // 18 / 4
  })
  void gpt2XlHoldsItsStateIn18BytesAParameter(String strategy, int devices, String bytes) {
    JsonNode row =
        Cli.run(
                "predict",
                "gpt-2-xl",
                "--cluster",
                "dgx-h100:1x8",
                "--strategies",
                strategy,
                "--devices",
                String.valueOf(devices),
                "--precision",
                "mixed",
                "--json")
            .ends(0)
            .json()
            .at("/rows/0");
    JsonNode memory = row.get("memory");
    long state =
        memory.get("weights_bytes").asLong()
            + memory.get("gradients_bytes").asLong()
            + memory.get("optimizer_bytes").asLong();
    assertEquals(Long.parseLong(bytes.replace("_", "")), state);
    assertEquals(devices, row.get("global_batch").asInt()); // a sequence each
    assertFalse(row.has("epoch_s"));
  }

  @Test
  void networksOfImagesHaveTheirOwnEpochAndBatch() {
    JsonNode answer =
        Cli.run(
                "predict",
                "resnet-18",
                "--cluster",
                "dgx-h100:1x2",
                "--strategies",
                "data",
                "--devices",
                "2",
                "--json")
            .ends(0)
            .json();
    assertEquals("fp32", answer.get("precision").asString());
    assertEquals("momentum", answer.get("optimizer").asString());
    JsonNode row = answer.at("/rows/0");
    assertEquals(64, row.get("global_batch").asInt());
    assertEquals(32, row.get("micro_batch_per_rank").asInt());
    assertFalse(row.has("tokens_per_s"));
    double iterations = Math.ceil(1_281_167 / 64.0);
    double epoch = iterations * row.get("iteration_s").asDouble();
    assertEquals(epoch, row.get("epoch_s").asDouble(), 1e-9 * epoch);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "dgx-h100:1x2 |        | bf16",
        "dgx-h100:1x2 | mixed  | bf16",
        "dgx-h100:1x2 | fp16   | fp16",
        "dgx-h100:1x2 | tf32   | tf32",
        "dgx-h100:1x2 | fp32   | fp32",
        "dgx-v100:1x2 |        | fp16",
        "dgx-v100:1x2 | mixed  | fp16",
        "dapple-a:1x2 |        | fp32",
        "dapple-a:1x2 | mixed  | fp16"
      })
  void theClusterDecidesWhatNobodySays(String cluster, String asked, String expected) {
    String[] plain = {"plan", GPT, "--cluster", cluster, "--global-batch", "4", "--json"};
    String[] said = java.util.Arrays.copyOf(plain, plain.length + 2);
    said[plain.length] = "--precision";
    said[plain.length + 1] = asked;
    JsonNode json = Cli.run(asked == null ? plain : said).ends(0).json();
    assertEquals(expected, json.get("precision").asString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"bf16", "tf32"})
  void aFormatThatDevicesLackIsRefused(String format) {
    Cli refused =
        Cli.run(
                "plan",
                GPT,
                "--cluster",
                "dgx-v100:1x2",
                "--global-batch",
                "4",
                "--precision",
                format)
            .ends(2);
    assertEquals(
        "pipewright: --precision: V100-32GB does not compute in "
            + format
            + "; take fp32 or fp16\n",
        refused.err());
  }

  @Test
  void whatPlansLeaveFreeCanBeSaid() {
    long all = capacity("--memory-reserve", "0");
    assertEquals(all * 0.94, (double) capacity(), 1);
    assertEquals(all * 0.9, (double) capacity("--memory-reserve", "10%"), 1);
    assertEquals(all * 0.75, (double) capacity("--memory-reserve", "0.25"), 1);
    assertEquals(20_000_000_000L, capacity("--memory", "20e9"));
    assertEquals(18_000_000_000L, capacity("--memory", "20e9", "--memory-reserve", "0.1"));
    for (String wrong : new String[] {"1", "-0.1", "much", "NaN", "100%"}) {
      assertEquals(
          "pipewright: --memory-reserve: '"
              + wrong
              + "' is no share below 1; give one like 0.06 or 6%\n",
          plan("--memory-reserve=" + wrong).ends(2).err());
    }
  }

  private static long capacity(String... more) {
    String[] all = java.util.Arrays.copyOf(more, more.length + 1);
    all[more.length] = "--json";
    return plan(all).ends(0).json().at("/plan/stages/0/capacity_bytes").asLong();
  }

  @Test
  void aWrittenPlanKeepsPrecisionAndReserve() throws Exception {
    Path out = folder.resolve("out");
    plan("--precision", "fp16", "--memory-reserve", "0.2", "--out", out.toString()).ends(0);
    String file = Files.readString(out.resolve("plan.json"));
    assertTrue(file.contains("\"precision\": \"fp16\""), file);
    assertTrue(file.contains("\"memory_reserve\": 0.2"), file);
    JsonNode again =
        Cli.run("simulate", out.resolve("plan.json").toString(), "--json").ends(0).json();
    assertEquals("fp16", again.get("precision").asString());
    assertEquals(0.2, again.get("memory_reserve").asDouble());
    assertTrue(again.hasNonNull("tokens_per_s") && again.hasNonNull("micro_batch_per_rank"));
    String page = Files.readString(out.resolve("report.html"));
    for (String words : new String[] {"fp16", "tokens/s", "per rank", "optimizer", "gradients"}) {
      assertTrue(page.contains(words), words);
    }
  }
}
