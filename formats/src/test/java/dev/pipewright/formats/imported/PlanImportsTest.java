package dev.pipewright.formats.imported;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.plan.PipelinePlan;
import java.nio.file.Path;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files that users wrote, and what of them plans do not have. */
class PlanImportsTest {
  private static final String MEGATRON =
      "--num-layers 8 --hidden-size 64 --num-attention-heads 4 --micro-batch-size 2"
          + " --global-batch-size 32 ";

  @TempDir Path folder;

  private String refusal(String text, int devices) {
    Path file = Refusal.file(folder, "plan.txt", text);
    assertTrue(PlanImports.isImport(file));
    return Refusal.of(file, path -> PlanImports.read(path, OptionalInt.of(devices)));
  }

  private PipelinePlan plan(String text, int devices) {
    Path file = Refusal.file(folder, "plan.txt", text);
    return PlanImports.readStep(file, OptionalInt.of(devices)).plan();
  }

  @Test
  void megatronsOtherWaysToSplitStagesAreRead() {
    String flags = MEGATRON + "--pipeline-model-parallel-size 4 ";
    assertEquals("[0..2]×1 [3..4]×1 [5..6]×1 [7..9]×1", plan(flags, 4).summary());
    String uneven =
        flags + "--decoder-first-pipeline-num-layers 1 --decoder-last-pipeline-num-layers 3";
    assertEquals("[0..1]×1 [2..3]×1 [4..5]×1 [6..9]×1", plan(uneven, 4).summary());
    PipelinePlan chunks = plan(flags + "--num-layers-per-virtual-pipeline-stage 1", 4);
    assertEquals(8, chunks.stages().size());
    assertEquals(chunks, plan(flags + "--num-virtual-stages-per-pipeline-rank 2", 4));
  }

  /** Whose data-parallel ranks have sequences of their own: the plan's have them together. */
  @Test
  void ranksThatDivideExpertsAreOneOfThePlans() {
    String experts = MEGATRON + "--expert-model-parallel-size 4 ";
    PipelinePlan alone = plan(experts, 8);
    assertEquals("[0..9]×8e4", alone.summary());
    assertEquals(16, alone.microBatching());
    assertEquals(2, alone.microBatches());
    assertEquals("expert:4x1", alone.stages().get(0).parallelism().toString());
    String together = experts.replace("--micro-batch-size 2", "--micro-batch-size 8");
    PipelinePlan tokens = plan(together + "--context-parallel-size 4", 8);
    assertEquals("[0..9]×8ce4", tokens.summary());
    assertEquals(alone.microBatching(), tokens.microBatching());
  }

  /** Tensor-parallel ranks with whole experts: as many groups as there are experts for. */
  @Test
  void tensorParallelRanksHaveWholeExperts() {
    String experts =
        MEGATRON
            + "--tensor-model-parallel-size 2 --sequence-parallel --expert-tensor-parallel-size 1 ";
    PipelinePlan four = plan(experts + "--expert-model-parallel-size 4", 16);
    assertEquals("[0..9]×16e4t2", four.summary());
    assertEquals("expert:2x2", four.stages().get(0).parallelism().toString());
    PipelinePlan alone = plan(experts, 16);
    assertEquals(alone.globalBatch(), four.globalBatch());
    assertEquals(alone.microBatches(), four.microBatches());
    PipelinePlan two = plan(experts + "--expert-model-parallel-size 2", 16);
    assertEquals("expert:1x2", two.stages().get(0).parallelism().toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--tensor-model-parallel-size 2 --context-parallel-size 2 | 8 | --context-parallel-size is 2 with tensor parallelism of whole sequences, which imported plans cannot have; add --sequence-parallel",
        "--tensor-model-parallel-size 2 --context-parallel-size 3 --sequence-parallel | 8 | 8 devices are no multiple of context times tensor 6",
        "--tensor-model-parallel-size 2 --sequence-parallel --context-parallel-size 2 --expert-model-parallel-size 2 | 8 | --expert-model-parallel-size is 2, which imported plans cannot have: they divide layers by tensor and context sizes, by equal context and expert sizes, or by an expert size that is a multiple of the tensor size",
        "--context-parallel-size 2 --expert-model-parallel-size 4 | 8 | --expert-model-parallel-size is 4, which imported plans cannot have",
        "--tensor-model-parallel-size 2 --sequence-parallel --expert-model-parallel-size 4 | 8 | --expert-model-parallel-size is 4 with tensor parallelism within experts, which imported plans cannot have; add --expert-tensor-parallel-size 1",
        "--tensor-model-parallel-size 2 --expert-model-parallel-size 4 --expert-tensor-parallel-size 1 | 8 | --expert-model-parallel-size is 4 with tensor parallelism of whole sequences, which imported plans cannot have; add --sequence-parallel",
        "--tensor-model-parallel-size 2 --sequence-parallel --expert-model-parallel-size 3 --expert-tensor-parallel-size 1 | 8 | --expert-model-parallel-size is 3, which imported plans cannot have",
        "--tensor-model-parallel-size 2 --sequence-parallel --expert-model-parallel-size 4 --expert-tensor-parallel-size 2 | 8 | --expert-tensor-parallel-size is 2, which imported plans cannot have",
        "--expert-model-parallel-size 3 | 8 | 8 devices are no multiple of expert 3",
        "--expert-model-parallel-size 2 --pipeline-model-parallel-size 2 --use-tp-pp-dp-mapping | 8 | --use-tp-pp-dp-mapping has the ranks that divide experts in different stages",
        "--context-parallel-size 3 | 8 | 8 devices are no multiple of context 3",
        "--cpu-offloading | 8 | --cpu-offloading is nothing that plans have",
        "--tensor-model-parallel-size 3 | 8 | 8 devices are no multiple of tensor 3",
        "--pipeline-model-parallel-size 3 | 3 | 8 layers are no multiple of 3 stages",
        "--recompute-granularity selective --recompute-modules mlp | 8 | --recompute-modules is mlp",
        "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Et*8L | 2 | has 1 stages, which is no multiple"
      })
  void whatPlansDoNotHaveOfMegatronIsNamed(String flags, int devices, String words) {
    String sentence = refusal(MEGATRON + flags, devices);
    assertTrue(sentence.contains(words), sentence);
  }

  @Test
  void whatPlansDoNotHaveOfOthersIsNamed() {
    String galvatron =
        "{\"pp_deg\": 1, \"tp_sizes_enc\": \"%s\", \"use_sp\": \"%s\", \"global_bsz\": 8, \"chunks\": 1}";
    assertEquals("[0..3]×4t2", plan(galvatron.formatted("2,2", "0,0"), 4).summary(), "two blocks");
    assertTrue(refusal(galvatron.formatted("2,2", "0,1"), 4).contains("use_sp says other than 0"));
    assertTrue(refusal(galvatron.formatted("2,4", "0,0"), 4).contains("plans have one degree"));
    String deepSpeed =
        "{\"train_batch_size\": %d, \"train_micro_batch_size_per_gpu\": 1,"
            + " \"gradient_accumulation_steps\": 4, \"zero_optimization\": {\"stage\": %d},"
            + " \"pipeline\": {\"parts\": [0, 5, 10]}}";
    assertEquals("[0..4]×2 [5..9]×2", plan(deepSpeed.formatted(8, 1), 4).summary());
    assertTrue(refusal(deepSpeed.formatted(9, 1), 4).contains("train_batch_size 9 is not"));
    assertTrue(refusal(deepSpeed.formatted(8, 3), 4).contains("take ZeRO 0 and 1, not 3"));
    assertTrue(
        refusal("{\"zero_optimization\": {\"stage\": 1}}", 4).contains("says no stages; add"));
    String titan =
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[parallelism]\n%s\n[training]\nlocal_batch_size = 2\n";
    assertEquals("[0..33]×8", plan(titan.formatted(""), 8).summary());
    assertTrue(
        refusal(titan.formatted("expert_parallel_degree = 4\ncontext_parallel_degree = 2"), 8)
            .contains("expert_parallel_degree is 4, which imported plans cannot have"));
    String both = "tensor_parallel_degree = 2\nexpert_parallel_degree = 4\n";
    assertTrue(
        refusal(titan.formatted(both + "expert_tensor_parallel_degree = 2"), 8)
            .contains("expert_parallel_degree is 4, which imported plans cannot have"));
    assertTrue(
        refusal(titan.formatted(both.replace("4", "6")), 8)
            .contains("expert_parallel_degree is 6, but 4 data-parallel ranks shard"));
    assertEquals("[0..33]×8e4t2", plan(titan.formatted(both), 8).summary());
    assertTrue(
        refusal(titan.formatted("pipeline_parallel_degree = 2"), 8)
            .contains("does not say their stages"));
  }
}
