package dev.pipewright.formats.export;

import static dev.pipewright.formats.export.SamplePlans.HEAD;
import static dev.pipewright.formats.export.SamplePlans.devices;
import static dev.pipewright.formats.export.SamplePlans.each;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.model.TransformerConstants;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.ZeroStage;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What targets cannot say, and the plans that are nearest to it. */
class NearestPlanTest {
  private static PlanExport target(String name) {
    return ExportCatalog.named("--to", name, ExportOptions.NONE);
  }

  private static PipelinePlan nearest(String name, PipelinePlan plan, String part) {
    ExportSubject exported = SamplePlans.exported(plan);
    List<Gap> gaps = target(name).gaps(exported);
    assertTrue(gaps.stream().anyMatch(gap -> gap.part().contains(part)), gaps.toString());
    PipelinePlan nearest = target(name).nearest(exported).orElseThrow();
    assertEquals(List.of(), target(name).gaps(exported.with(nearest)));
    assertEquals(plan.globalBatch(), nearest.globalBatch());
    assertEquals(plan.layers(), nearest.layers());
    return nearest;
  }

  private static SamplePlans twoStages() {
    return SamplePlans.of("1f1b", 8, 4);
  }

  @Test
  void recomputationOfOneStageBecomesThatOfAll() {
    PipelinePlan plan =
        twoStages()
            .stage(16, devices(0, 4), "none:1", each(1, 4))
            .stage(HEAD, devices(4, 4), "none:1")
            .plan();
    PipelinePlan near = nearest("megatron", plan, "recomputation of 4 layers of stage 0");
    assertEquals(4, near.stages().get(1).recomputed().size());
    assertEquals(plan.stages().get(0), near.stages().get(0));
    PipelinePlan titan =
        nearest("torchtitan", plan.with(ZeroStage.GRADIENTS), "recomputation of 4 layers");
    assertEquals(32, titan.stages().stream().mapToInt(s -> s.recomputed().size()).sum());
  }

  @Test
  void wholeStagesKeepTheirEndsInMegatronAndNothingInDeepSpeed() {
    PipelinePlan plan =
        twoStages()
            .stage(16, devices(0, 4), "none:1", 0, 16)
            .stage(HEAD, devices(4, 4), "none:1", 17, HEAD)
            .plan();
    PipelinePlan near = nearest("megatron", plan, "neither embedding nor head");
    assertEquals("[[1, 16]]", near.stages().get(0).recomputed().toString());
    assertEquals("[[17, 32]]", near.stages().get(1).recomputed().toString());
    assertEquals(List.of(), target("deepspeed").gaps(SamplePlans.exported(plan)));
  }

  @Test
  void aVBecomesALoopOnTheSameStages() {
    PipelinePlan v =
        SamplePlans.named(SamplePlans.ofTorchtitan(), "dualpipev").with(ZeroStage.OPTIMIZER);
    PipelinePlan near = nearest("megatron", v, "stages placed in a V");
    assertEquals("interleaved", near.spec().scheduleName());
    assertEquals(4, near.stages().size());
    assertEquals(List.of(2, 3), near.stages().get(3).devices());
    PipelinePlan joined = nearest("galvatron", v, "stages placed in a V");
    assertEquals(2, joined.stages().size());
    assertEquals(15, joined.stages().get(0).lastLayer());
  }

  @Test
  void unequalReplicasBecomeEqual() {
    PipelinePlan plan =
        twoStages().stage(20, devices(0, 6), "none:1").stage(HEAD, devices(6, 2), "none:1").plan();
    PipelinePlan near = nearest("megatron", plan, "different numbers of devices of stages");
    assertEquals(List.of(0, 1, 2, 3), near.stages().get(0).devices());
    assertEquals(List.of(4, 5, 6, 7), near.stages().get(1).devices());
  }

  @Test
  void differentTensorDegreesAreGalvatronsOnly() {
    PipelinePlan plan = SamplePlans.named(SamplePlans.ofGalvatron(), "degrees of stages");
    assertEquals(List.of(), target("galvatron").gaps(SamplePlans.exported(plan)));
    PipelinePlan near = nearest("megatron", plan, "different tensor-parallel degrees");
    assertEquals(near.stages().get(0).parallelism(), near.stages().get(1).parallelism());
  }

  @Test
  void shardedParametersOfPipelinesBecomeTheOptimizers() {
    PipelinePlan plan =
        twoStages()
            .zero(3)
            .stage(16, devices(0, 4), "none:1")
            .stage(HEAD, devices(4, 4), "none:1")
            .plan();
    assertEquals(
        ZeroStage.OPTIMIZER, nearest("deepspeed", plan, "ZeRO 3 with pipelines").sharding());
    assertEquals(ZeroStage.OPTIMIZER, nearest("megatron", plan, "ZeRO 3").sharding());
  }

  @Test
  void sumsDuringThePassComeAfterItInDeepSpeedsPipelines() {
    PipelinePlan plan =
        twoStages()
            .overlapping()
            .stage(16, devices(0, 4), "none:1")
            .stage(HEAD, devices(4, 4), "none:1")
            .plan();
    assertTrue(!nearest("deepspeed", plan, "sums of gradients during").overlapGradients());
  }

  @Test
  void microBatchesThatRanksDoNotDivideAreResized() {
    PipelinePlan plan =
        SamplePlans.of("1f1b", 8, 3)
            .stage(16, devices(0, 4), "none:1")
            .stage(HEAD, devices(4, 4), "none:1")
            .plan();
    PipelinePlan near = nearest("megatron", plan, "micro-batches of 3 samples");
    assertEquals(4, near.microBatching());
    assertEquals(6, near.microBatches());
  }

  @Test
  void devicesInAnotherOrderAreRenumbered() {
    PipelinePlan plan =
        twoStages().stage(16, devices(4, 4), "none:1").stage(HEAD, devices(0, 4), "none:1").plan();
    PipelinePlan near = nearest("megatron", plan, "the order of the plan's devices");
    assertEquals(devices(0, 4), near.stages().get(0).devices());
  }

  @Test
  void stagesWithoutBlocksGetOneInGalvatron() {
    PipelinePlan plan =
        SamplePlans.named(SamplePlans.ofTorchtitan(), "embedding alone").with(ZeroStage.GRADIENTS);
    PipelinePlan near = nearest("galvatron", plan, "stage 0, which has no transformer block");
    assertEquals(1, near.stages().get(0).lastLayer());
    assertEquals(31, near.stages().get(2).lastLayer());
  }

  @Test
  void bidirectionalPipelinesBecomeOne() {
    PipelinePlan plan =
        SamplePlans.of("chimera", 8, 4)
            .stage(16, devices(0, 4), "none:1")
            .stage(HEAD, devices(4, 4), "none:1")
            .plan();
    for (String name : List.of("megatron", "torch", "deepspeed")) {
      assertEquals("1f1b", nearest(name, plan, "runs two pipelines at once").spec().scheduleName());
    }
  }

  @Test
  void allMicroBatchesAreRecomputedAlikeInPyTorch() {
    PipelinePlan plan =
        twoStages().stage(16, devices(0, 4), "none:1").stage(HEAD, devices(4, 4), "none:1").plan();
    PipelinePlan but =
        plan.with(plan.stages().stream().map(s -> s.with(Recompute.EXCEPT_LAST)).toList());
    PipelinePlan near = nearest("torch", but, "all micro-batches but the last");
    assertEquals(Recompute.STAGE_INPUT, near.stages().get(0).recompute());
  }

  @ParameterizedTest
  @ValueSource(strings = {"megatron", "bridge", "torchtitan", "deepspeed", "galvatron"})
  void otherNetworksThanDecodersAreRefusedInASentence(String name) {
    PipelinePlan plan =
        twoStages().stage(16, devices(0, 4), "none:1").stage(HEAD, devices(4, 4), "none:1").plan();
    ExportSubject images =
        new ExportSubject(
            plan,
            "vgg-19",
            Optional.empty(),
            TransformerConstants.NONE,
            SamplePlans.LAYERS,
            8,
            SamplePlans.exported(plan).training());
    List<Gap> gaps = target(name).gaps(images);
    assertEquals(1, gaps.size());
    assertTrue(gaps.get(0).part().startsWith("vgg-19, which is no decoder"), gaps.toString());
    assertEquals(Optional.empty(), target(name).nearest(images));
    assertEquals(2, target("torch").write(images).size());
    assertEquals(
        List.of("train.sbatch", "train_pipeline.py", "schedule.csv"),
        target("sbatch").write(images).stream().map(ExportedFile::name).toList());
  }
}
