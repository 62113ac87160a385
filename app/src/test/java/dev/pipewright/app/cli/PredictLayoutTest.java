package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** {@code predict} of a transformer's stated layout. */
class PredictLayoutTest {
  private static final String LLAMA =
      "predict llama3-70b --cluster dgx-h100 --tensor 8 --pipeline 4 --devices 64";

  @TempDir private Path folder;

  private static Cli run(String line) {
    return Cli.run(line.split(" ", -1));
  }

  private static JsonNode row(String line) {
    return run(line + " --json").ends(0).json().at("/rows/0");
  }

  /** Seconds of V. Korthikanti et al., MLSys 2023, Table 5; the constants were fitted on them. */
  @ParameterizedTest
  @CsvSource({
    "megatron-22b, 1, 1, 4, 4, full, 1.42",
    "megatron-22b, 1, 1, 4, 4, selective --sequence-parallel, 1.10",
    "gpt3-175b, 8, 3, 1, 64, full, 18.13",
    "gpt3-175b, 8, 3, 1, 64, selective --sequence-parallel, 13.75"
  })
  void publishedStepsAreMet(
      String model,
      int pipeline,
      int interleave,
      int microBatch,
      int batch,
      String recompute,
      double published) {
    JsonNode row =
        row(
            "predict %s --cluster selene --tensor 8 --pipeline %d --data 1 --interleave %d --micro-batch %d --global-batch %d --recompute %s"
                .formatted(model, pipeline, interleave, microBatch, batch, recompute));
    assertEquals(published, row.get("iteration_s").asDouble(), 0.015 * published);
    assertTrue(row.at("/interval_s/0").asDouble() < published);
    assertTrue(row.at("/interval_s/1").asDouble() > published);
    assertTrue(row.get("fits").asBoolean());
  }

  /** The road of flags and that of a table's columns lead to the same run. */
  @Test
  void aRowOfATableSaysTheSame() {
    String table =
        """
        machine,devices,layers,hidden,heads,kv_heads,ffn,gated,sequence,vocabulary,tied,position,tensor,pipeline,data,interleave,context,micro_batch,global_batch,sequence_parallel,zero,recompute,precision,grads,framework
        h100-80g-8x3200g,256,80,8192,64,8,28672,1,8192,128256,0,rope,4,4,8,5,2,2,128,1,1,full,bf16,fp32,megatron-bridge
        """;
    JsonNode listed =
        Cli.run("predict", "--table", Cli.file(folder, "runs.csv", table).toString(), "--json")
            .ends(0)
            .json()
            .at("/rows/0");
    JsonNode stated =
        row(
            "predict llama3-70b --cluster h100-80g-8x3200g --sequence 8192 --tensor 4 --pipeline 4 --data 8 --interleave 5 --context 2 --micro-batch 2 --global-batch 128 --sequence-parallel --recompute full");
    for (String amount : List.of("iteration_s", "memory_bytes", "logged_rank_bytes")) {
      double expected = listed.get(amount).asDouble();
      assertEquals(expected, stated.get(amount).asDouble(), 1e-12 * expected, amount);
    }
    assertEquals(listed.get("phases"), stated.get("phases"));
  }

  /** A degree that is left out is 1, the data-parallel one what devices remain. */
  @ParameterizedTest
  @CsvSource({"--tensor 4, --pipeline 1 --data 4", "--pipeline 4, --tensor 1 --data 4"})
  void oneDegreeStatesALayout(String one, String others) {
    String start = "predict llama3-8b --cluster h100:2x8 --global-batch 64 ";
    JsonNode row = row(start + one);
    assertEquals(row(start + one + " " + others), row);
    assertTrue(row.has("stages"), "a layout");
    JsonNode strategies = run(start + one + " --strategies data,zero3 --json").json();
    assertEquals("data", strategies.at("/rows/0/strategy").asString());
  }

  @Test
  void ratesDaysAndPriceFollowFromTheStep() {
    JsonNode row =
        row(
            LLAMA
                + " --sequence-parallel --global-batch 64 --sequence 8192 --tokens 1e12 --device-hour 2");
    double tokens = 64 * 8192 / row.get("iteration_s").asDouble();
    assertEquals(tokens, row.get("tokens_per_s").asDouble(), 1e-9 * tokens);
    assertEquals(tokens / 64, row.get("tokens_per_s_per_device").asDouble(), 1e-9 * tokens);
    double days = 1e12 / tokens / 86_400;
    assertEquals(days, row.get("days").asDouble(), 1e-9 * days);
    assertEquals(2 * 64 * 24 * days, row.get("price").asDouble(), 1e-6 * days);
    double peak = 989.5;
    double share = row.get("tflops_per_device").asDouble() / peak;
    assertEquals(share, row.get("mfu").asDouble(), 1e-9);
    assertTrue(share > 0.2 && share < 0.6, "MFU " + share);
    double parts = 0;
    for (JsonNode phase : row.get("phases")) {
      parts += phase.asDouble();
    }
    assertEquals(row.get("iteration_s").asDouble(), parts, 1e-9 * parts);
  }

  @Test
  void stagesHoldAllLayersAndTheFullestIsTheAnswer() {
    JsonNode row = row(LLAMA + " --sequence-parallel --global-batch 64 --interleave 5");
    int layers = 0;
    long most = 0;
    for (JsonNode stage : row.get("stages")) {
      assertEquals(5, stage.get("layers").size());
      for (JsonNode chunk : stage.get("layers")) {
        layers += chunk.asInt();
      }
      most = Math.max(most, stage.get("memory_bytes").asLong());
      long parts = 0;
      for (JsonNode part : stage.get("memory")) {
        parts += part.asLong();
      }
      assertEquals(stage.get("memory_bytes").asDouble(), (double) parts, 6);
    }
    assertEquals(80, layers);
    assertEquals(row.get("memory_bytes").asLong(), most);
  }

  /** Each number of devices has its replicas; the batch grows with them where it is per device. */
  @Test
  void severalNumbersOfDevicesAreRows() {
    JsonNode rows =
        run("predict llama3-70b --cluster dgx-h100 --tensor 8 --pipeline 4 --devices 64,128 --batch-per-device 1 --json")
            .ends(0)
            .json()
            .get("rows");
    assertEquals(2, rows.size());
    for (JsonNode row : rows) {
      int devices = row.get("devices").asInt();
      assertEquals(devices / 32, row.get("data").asInt());
      assertEquals(devices, row.get("global_batch").asInt());
    }
    Cli text =
        run("predict llama3-70b --cluster dgx-h100 --tensor 8 --pipeline 4 --devices 64,128 --batch-per-device 1")
            .ends(0);
    assertTrue(text.out().contains("t8 p4 d4"), text.out());
  }

  /** Published: 79 GB and 393 ms of GPT-2 XL at batch 15; "about 34 GB" of Llama 2 7B. */
  @Test
  void knownRunsFitTheirDevices() {
    JsonNode gpt =
        row(
            "predict gpt-2-xl --cluster h100-80g-8x3200g:1x1 --tensor 1 --pipeline 1 --micro-batch 15 --global-batch 15");
    assertTrue(gpt.get("fits").asBoolean());
    assertTrue(gpt.at("/interval_s/0").asDouble() < 0.393, gpt.toString());
    assertTrue(gpt.at("/interval_s/1").asDouble() > 0.393, gpt.toString());
    JsonNode llama =
        row("predict llama2-7b --cluster dgx-h100:1x8 --zero 3 --sequence 4096 --global-batch 8");
    assertEquals(34e9, llama.get("memory_bytes").asDouble(), 0.07 * 34e9);
    JsonNode gpt3 =
        row(
            "predict gpt3-175b --cluster a100-80g-8x1600g:128x8 --tensor 8 --pipeline 8 --global-batch 1536 --recompute selective --sequence-parallel");
    assertTrue(gpt3.get("fits").asBoolean());
  }

  @Test
  void whatDoesNotFitIsSaid() {
    Cli run =
        run("predict llama3-70b --cluster dgx-h100:1x8 --tensor 8 --pipeline 1 --global-batch 8")
            .ends(1);
    assertTrue(run.out().contains("of 77.1 GiB on each device: does not fit"), run.out());
    assertTrue(run.err().startsWith("pipewright: does not fit: stage 0 needs "), run.err());
    assertTrue(run.err().contains(" of 77.1 GiB; raise --tensor"), run.err());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--tensor 7 --devices 28|--tensor=7 does not divide heads=64; write 4 or 8",
        "--micro-batch 3|--global-batch=64 is no multiple of data=2 × micro_batch=3; write 60 or 66",
        "--interleave 5 --micro-batch 16|--global-batch=64 makes 2 micro-batches, no multiple of pipeline=4, which interleave=5 needs; write 128",
        "--expert 2|--expert=2, but the network has no experts; leave it out",
        "--zero 4|--zero: 4 is too many; give at most 3",
        "--devices 100|--devices: 100 is no multiple of tensor=8 × pipeline=4 × context=1; write 96 or 128",
        "--data 3|--devices: the layout takes 96, not 64; correct one of them",
        "--framework megatron-2023|--framework: unknown 'megatron-2023'; did you mean \"megatron-2021\"?",
        "--attention flash|--attention: unknown 'flash'; one of fused, standard",
        "--recompute auto|--recompute: 'auto' does not go with a stated layout; one of none, full, selective",
        "--precision fp32|--precision: fp32 has no calibrated constants; take one of bf16, fp16, fp8, mxfp8, nvfp4",
        "--optimizer sgd|--optimizer: layouts are predicted with adam, not sgd; leave it out",
        "--device-hour 2|--device-hour: needs --tokens; give those of the training",
        "--tokens many|--tokens: 'many' is no amount; give a positive number, like 15e12",
        "--zero 1 --group 4|--group: does not go with --zero, which is part of a stated layout; leave one of them out",
        "--zero 1 --strategies spatial|--strategies: does not go with --zero, which is part of a stated layout; leave one of them out"
      })
  void everyMistakeIsOneSentence(String flags, String sentence) {
    List<String> line = new ArrayList<>(List.of(LLAMA.split(" ", -1)));
    String[] words = flags.split(" ", -1);
    for (int i = 0; i < words.length; i += 2) {
      int at = line.indexOf(words[i]);
      if (at >= 0) {
        line.set(at + 1, words[i + 1]);
      } else {
        line.addAll(List.of(words[i], words[i + 1]));
      }
    }
    line.addAll(List.of("--global-batch", "64"));
    String said = Cli.run(line.toArray(String[]::new)).refusal(2, "");
    assertEquals(sentence, said.strip().split("\n", -1)[0].strip());
  }

  @Test
  void layersThatDoNotDivideCanBeStated() {
    String line =
        "predict llama3-70b --cluster h100:10x8 --global-batch 80 --pipeline 5 --recompute full";
    String layout = "Et*6|(t*6|)*4,(t*5|)*9,t*5,L";
    assertEquals(
        "--pipeline=5 × interleave=3 = 15 chunks do not divide layers=80; write degrees whose"
            + " product is 10 or 16, or state the layers of each stage, like --pipeline-layout '"
            + layout
            + "'",
        run(line + " --interleave 3").refusal(2, "").strip());
    assertEquals(5, row(line + " --tensor 8 --pipeline-layout " + layout).get("stages").size());
  }

  @Test
  void otherNetworksAndMachinesHaveNoLayout() {
    run("predict resnet-50 --cluster dgx-h100 --zero 1 --global-batch 64")
        .refusal(2, "resnet-50: is no transformer described by its shape, which --zero needs");
    run("predict gpt-2 --cluster dapple-a --zero 1 --global-batch 64")
        .refusal(2, "--cluster: V100-16GB has no calibrated constants, which --zero needs");
  }

  @Test
  void schedulesChangeBubbleAndActivations() {
    String line =
        "predict llama3-8b --cluster dgx-h100 --devices 16 --tensor 2 --pipeline 4 --global-batch 64 --sequence 1024";
    JsonNode usual = row(line);
    JsonNode split = row(line + " --schedule zb-h1");
    assertFalse(usual.has("schedule"));
    assertEquals("zb-h1", split.get("schedule").asString());
    double bubble = usual.at("/phases/bubble_s").asDouble();
    double shorter = split.at("/phases/bubble_s").asDouble();
    assertTrue(0.2 * bubble < shorter && shorter < 0.7 * bubble, shorter + " of " + bubble);
    double held = usual.at("/stages/0/memory/activations_bytes").asDouble();
    JsonNode all = row(line + " --schedule gpipe").at("/stages/0/memory/activations_bytes");
    assertEquals(32 / 4 * held, all.asDouble(), 8); // micro-batches in flight; whole bytes
    assertEquals(usual.get("iteration_s"), row(line + " --schedule 1f1b").get("iteration_s"));
    JsonNode wave = row(line + " --schedule dualpipev");
    assertEquals("[4,4]", wave.at("/stages/0/layers").toString());
    assertTrue(wave.at("/stages/0/memory/logits_bytes").asDouble() > 0);
    run(line + " --schedule chimera")
        .refusal(2, "--schedule=chimera holds two copies of every stage");
    run(line + " --schedule gpip").refusal(2, "--schedule: gpip is no pipeline");
    run(line + " --schedule zb-h1 --search").refusal(2, "--schedule: does not go with --search");
  }

  @Test
  void theHostHoldsTheShareOfTheOptimizerThatItUpdates() {
    String line =
        "predict llama3-8b --cluster dgx-h100 --devices 8 --tensor 2 --pipeline 1 --global-batch 64 --sequence 1024";
    JsonNode usual = row(line);
    JsonNode host = row(line + " --offload-optimizer 1");
    assertFalse(usual.has("host_bytes"));
    double state =
        usual.at("/memory/state_bytes").asDouble() - host.at("/memory/state_bytes").asDouble();
    assertEquals(16.0 / 12 * state, host.get("host_bytes").asDouble(), 0.001 * state);
    assertTrue(
        host.at("/phases/optimizer_s").asDouble() > 5 * usual.at("/phases/optimizer_s").asDouble());
    assertEquals(
        host.get("memory_bytes"),
        row(line
                + " --offload-optimizer 1 --micro-batch 1 --zero 1 --recompute none --offload-layers 0 --search")
            .get("memory_bytes"));
    run(line + " --offload-optimizer 1.5")
        .refusal(2, "--offload-optimizer: '1.5' is no share; give a number from 0 to 1, like 0.5");
  }

  /** Degrees alone do not take other options' meaning away. */
  @Test
  void strategiesAreStillAsked() {
    JsonNode rows =
        run("predict gpt-2 --cluster dgx-h100:1x8 --strategies data+tensor+pipeline --tensor 2 --pipeline 2 --schedule gpipe --devices 8 --global-batch 16 --json")
            .ends(0)
            .json()
            .get("rows");
    assertFalse(rows.get(0).has("interval_s"));
    assertTrue(rows.get(0).has("plan"));
  }

  @Test
  void filesHoldTheAnswerAndItsPictures() throws Exception {
    Path out = folder.resolve("out");
    Cli run = run(LLAMA + " --sequence-parallel --global-batch 64 --out " + out).ends(0);
    assertEquals("wrote prediction.json, time.svg, memory.svg to " + out, run.err().strip());
    String json = run(LLAMA + " --sequence-parallel --global-batch 64 --json").ends(0).out();
    assertEquals(json, Files.readString(out.resolve("prediction.json")));
    String memory = Files.readString(out.resolve("memory.svg"));
    assertTrue(memory.contains("stage 3: "), memory);
    String time = Files.readString(out.resolve("time.svg"));
    assertTrue(time.contains("64 devices: "), time);
  }
}
