package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/**
 * A transformer's layout stated to {@code predict}, and the same as a plan. Layers are priced by
 * the same formulas; exchanges of tensor parallelism by the cluster's links here and by calibrated
 * ones there; stragglers and the launch of a step are the layout's alone.
 */
class LayoutsArePlansTest {
  private static JsonNode row(String model, String cluster, String more) {
    String line = "predict %s --cluster %s %s --json".formatted(model, cluster, more);
    return Cli.run(line.split(" ", -1)).json().at("/rows/0");
  }

  @ParameterizedTest
  @CsvSource({
    "llama3-8b, h100:1x8, 1, 1, 1, 1, 1",
    "gpt-2-xl, a100:1x4, 1, 1, 1, 8, 8",
    "llama3-8b, h100:1x8, 2, 1, 1, 1, 16",
    "llama3-8b, h100:1x8, 8, 1, 1, 2, 16",
    "llama3-8b, h100:1x8, 8s, 1, 1, 2, 16",
    "llama3-70b, h100:4x8, 8, 4, 1, 1, 64",
    "llama3-70b, h100:4x8, 8, 4, 5, 1, 64",
    "llama3-70b, h100:4x8, 8, 4, 4, 1, 64",
    "qwen3-32b, h200:2x8, 4, 4, 1, 1, 32",
    "mixtral-8x7b, b200:2x8, 4, 4, 1, 1, 32",
    "gpt3-175b, a100-80g-8x1600g:8x8, 8s, 8, 3, 1, 64",
    "megatron-1t, a100-80g-8x1600g:64x8, 8s, 64, 1, 1, 512"
  })
  void bothRoadsTakeAsLong(
      String model,
      String cluster,
      String division,
      int pipeline,
      int interleave,
      int microBatch,
      int batch) {
    boolean sequence = division.endsWith("s");
    int tensor = Integer.parseInt(division.replace("s", ""));
    int devices = tensor * pipeline;
    String degrees =
        "--tensor %d --pipeline %d --data 1 --micro-batch %d --devices %d --global-batch %d"
            .formatted(tensor, pipeline, microBatch, devices, batch);
    String chunks = interleave > 1 ? " --interleave " + interleave : "";
    JsonNode layout =
        row(model, cluster, degrees + chunks + (sequence ? " --sequence-parallel" : ""));
    String kind = sequence ? "sequence" : "tensor";
    String strategy =
        tensor == 1 ? pipeline == 1 ? "serial" : "pipeline" : pipeline == 1 ? kind : "";
    JsonNode plan =
        row(
            model,
            cluster,
            degrees.replace("--data 1 ", "")
                + (interleave > 1 ? " --schedule interleaved" + chunks : " --schedule 1f1b")
                + " --strategies "
                + (strategy.isEmpty() ? "data+" + kind + "+pipeline" : strategy));
    double expected = layout.get("iteration_s").asDouble() - ofLayoutsAlone(layout);
    assertEquals(expected, plan.get("iteration_s").asDouble(), 0.04 * expected);
    double memory = layout.get("memory_bytes").asDouble();
    double tolerance = interleave > 1 ? 0.03 : 0.05;
    assertEquals(memory, plan.get("memory_bytes").asDouble(), tolerance * memory);
  }

  /**
   * Experts over one machine and several, whose owners divide sequences, since the micro-batch does
   * not divide evenly: exchanges are all-to-alls, and hardly anything else, as few heads have keys.
   */
  @ParameterizedTest
  @CsvSource({
    "qwen3-30b-a3b, h100:1x8, 8",
    "qwen3-30b-a3b, h100:2x8, 16",
    "qwen3-30b-a3b, h100:4x8, 32",
    "gpt-oss-20b, h100:1x8, 8",
    "gpt-oss-20b, h100:2x8, 16"
  })
  void expertsExchangeAsLong(String model, String cluster, int experts) {
    String degrees =
        "--devices %d --micro-batch %d --global-batch 96".formatted(experts, experts * 3 / 2);
    JsonNode layout =
        row(
            model,
            cluster,
            degrees + " --data 1 --context %d --expert %d".formatted(experts, experts));
    JsonNode plan = row(model, cluster, degrees + " --strategies expert");
    double expected = layout.at("/phases/all_to_all_s").asDouble();
    assertEquals(expected, plan.at("/phases/layer_allgather_s").asDouble(), 0.15 * expected);
  }

  /** Owners of experts with whole sequences: the data-parallel ranks of published runs. */
  @ParameterizedTest
  @CsvSource({
    "qwen3-30b-a3b, h100:1x8, 8",
    "qwen3-30b-a3b, h100:2x8, 16",
    "qwen3-30b-a3b, h100:4x8, 32",
    "gpt-oss-20b, h100:1x8, 8",
    "gpt-oss-20b, h100:2x8, 16",
    "mixtral-8x7b, h100:1x8, 8",
    "deepseek-v2-lite, h100:1x8, 8"
  })
  void expertsOfDataParallelRanksTakeAsLong(String model, String cluster, int experts) {
    String devices = "--devices %d --global-batch 32 ".formatted(experts);
    String ranks = "--data %d --expert %d --micro-batch 1".formatted(experts, experts);
    JsonNode layout = row(model, cluster, devices + ranks);
    JsonNode plan = row(model, cluster, devices + "--strategies expert --micro-batch " + experts);
    double expected = layout.get("iteration_s").asDouble();
    assertEquals(expected, plan.get("iteration_s").asDouble(), 0.15 * expected);
  }

  /**
   * Tensor-parallel ranks with whole experts, of one group and of several, in one stage and in two:
   * over several machines all-to-alls differ as above.
   */
  @ParameterizedTest
  @CsvSource({
    "qwen3-30b-a3b, h100:1x8, 2, 8, 1, 48, 0.05",
    "qwen3-30b-a3b, h100:1x8, 4, 4, 1, 48, 0.05",
    "qwen3-30b-a3b, h100:2x8, 2, 8, 2, 48, 0.05",
    "qwen3-30b-a3b, h100:2x8, 2, 16, 1, 48, 0.12",
    "mixtral-8x7b, h100:2x8, 2, 8, 2, 32, 0.05",
    "mixtral-8x7b, h100:2x8, 2, 8, 1, 32, 0.12",
    "qwen3-235b-a22b, h100:32x8, 4, 32, 2, 94, 0.12"
  })
  void tensorParallelOwnersOfExpertsTakeAsLong(
      String model,
      String cluster,
      int tensor,
      int expert,
      int pipeline,
      int layers,
      double tolerance,
      @TempDir Path folder) {
    int devices = 8 * Integer.parseInt(cluster.substring("h100:".length(), cluster.indexOf('x')));
    int data = devices / tensor / pipeline;
    int batch = 8 * data;
    JsonNode layout =
        row(
            model,
            cluster,
            "--devices %d --tensor %d --pipeline %d --data %d --expert %d --expert-tensor 1 --sequence-parallel --zero 1 --micro-batch 1 --global-batch %d"
                .formatted(devices, tensor, pipeline, data, expert, batch));
    Path file =
        Cli.file(
            folder,
            "args.txt",
            """
            --num-layers %d --bf16 --tensor-model-parallel-size %d --expert-model-parallel-size %d
            --expert-tensor-parallel-size 1 --sequence-parallel --pipeline-model-parallel-size %d
            --micro-batch-size 1 --global-batch-size %d --use-distributed-optimizer
            """
                .formatted(layers, tensor, expert, pipeline, batch));
    JsonNode plan = simulated(file, model, cluster);
    double expected = layout.get("iteration_s").asDouble() - ofLayoutsAlone(layout);
    assertEquals(expected, plan.at("/objective/value").asDouble(), tolerance * expected);
    double memory = layout.get("memory_bytes").asDouble();
    assertEquals(memory, fullest(plan), 0.02 * memory);
  }

  /**
   * Long sequences on context-parallel ranks, of tensor-parallel ones too, with a distributed
   * optimizer: the same memory, and steps that differ by what of gathered keys attention hides.
   */
  @ParameterizedTest
  @CsvSource({
    "llama3-8b, h100:1x8, 1, 8, 1, 65536, 32",
    "llama3-8b, h100:1x8, 2, 4, 1, 65536, 32",
    "llama3-8b, h100:2x8, 8, 2, 1, 65536, 32",
    "llama3-70b, h100:8x8, 8, 2, 4, 16384, 80",
    "llama3-70b, h100:8x8, 8, 4, 2, 65536, 80",
    "llama3-405b, h100:112x8, 8, 16, 7, 131072, 126"
  })
  void contextParallelRanksTakeAsLong(
      String model,
      String cluster,
      int tensor,
      int context,
      int pipeline,
      int sequence,
      int layers,
      @TempDir Path folder) {
    int batch = 8 * pipeline;
    String steps = tensor > 1 ? " --sequence-parallel" : "";
    String degrees =
        "--sequence %d --tensor %d --context %d --pipeline %d --data 1 --micro-batch 1 --devices %d --global-batch %d%s"
            .formatted(
                sequence, tensor, context, pipeline, tensor * context * pipeline, batch, steps);
    JsonNode layout = row(model, cluster, degrees);
    Path file =
        Cli.file(
            folder,
            "args.txt",
            """
            --num-layers %d --bf16 --tensor-model-parallel-size %d --context-parallel-size %d
            --pipeline-model-parallel-size %d --micro-batch-size 1 --global-batch-size %d
            --use-distributed-optimizer%s
            """
                .formatted(layers, tensor, context, pipeline, batch, steps));
    JsonNode plan = simulated(file, model, cluster, "--sequence", Integer.toString(sequence));
    double expected = layout.get("iteration_s").asDouble() - ofLayoutsAlone(layout);
    assertEquals(expected, plan.at("/objective/value").asDouble(), 0.05 * expected);
    double memory = layout.get("memory_bytes").asDouble();
    assertEquals(memory, fullest(plan), 0.05 * memory);
  }

  private static JsonNode simulated(Path file, String model, String cluster, String... more) {
    List<String> line = new ArrayList<>(List.of("simulate", file.toString()));
    line.addAll(List.of("--model", model, "--cluster", cluster, "--json"));
    line.addAll(List.of(more));
    return Cli.run(line.toArray(String[]::new)).json();
  }

  /** Seconds that only a layout counts. */
  private static double ofLayoutsAlone(JsonNode layout) {
    return layout.at("/phases/stragglers_s").asDouble() + layout.at("/phases/fixed_s").asDouble();
  }

  private static double fullest(JsonNode plan) {
    double fullest = 0;
    for (JsonNode stage : plan.at("/plan/stages")) {
      fullest = Math.max(fullest, stage.get("memory_bytes").asDouble());
    }
    return fullest;
  }

  private static final String PREDICTING =
      """
      {"model_type": "deepseek_v3", "hidden_size": 4096, "num_hidden_layers": 16,
       "num_attention_heads": 32, "num_key_value_heads": 32, "q_lora_rank": 1536,
       "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
       "intermediate_size": 11008, "moe_intermediate_size": 2048, "n_routed_experts": 16,
       "num_experts_per_tok": 4, "n_shared_experts": 1, "first_k_dense_replace": DENSE,
       "vocab_size": 129280, "num_nextn_predict_layers": 1, "max_position_embeddings": 4096}
      """;

  /**
   * Multi-token prediction: layers after the last block in the last stage, where the head computes
   * one more loss for each.
   */
  @ParameterizedTest
  @CsvSource({"1, 0, 1", "4, 3, 1", "1, 0, 4", "1, 3, 4"})
  void predictionsTakeAsLongOnBothRoads(int tensor, int dense, int pipeline, @TempDir Path folder) {
    Path network =
        Cli.file(folder, "net.json", PREDICTING.replace("DENSE", Integer.toString(dense)));
    String cluster = "b300:1x" + tensor * pipeline;
    int batch = 8 * pipeline;
    JsonNode layout =
        row(
            network.toString(),
            cluster,
            "--tensor %d --pipeline %d --data 1 --micro-batch 1 --devices %d --global-batch %d"
                .formatted(tensor, pipeline, tensor * pipeline, batch));
    String blocks = "t*" + 16 / pipeline;
    String between = (blocks + "|").repeat(pipeline - 1);
    Path arguments =
        Cli.file(
            folder,
            "args.sh",
            """
            ARGS=(
              --num-layers 16
              --mtp-num-layers 1
              --tensor-model-parallel-size %d
              --pipeline-model-parallel-size %d
              --pipeline-model-parallel-layout 'E%s%smL'
              --micro-batch-size 1
              --global-batch-size %d
              --bf16
            )
            """
                .formatted(tensor, pipeline, between, blocks, batch));
    JsonNode plan = simulated(arguments, network.toString(), cluster);
    double expected = layout.get("iteration_s").asDouble() - ofLayoutsAlone(layout);
    assertEquals(expected, plan.at("/objective/value").asDouble(), 0.04 * expected);
    double memory = layout.get("memory_bytes").asDouble();
    assertEquals(memory, fullest(plan), 0.05 * memory);
  }
}
