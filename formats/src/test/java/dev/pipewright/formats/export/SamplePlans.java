package dev.pipewright.formats.export;

import dev.pipewright.formats.model.TransformerConstants;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.ScheduleSpec;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Transformers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/** Plans of Llama 3 8B: an embedding, 32 blocks at positions 1 to 32, a head at 33. */
public final class SamplePlans {
  static final String MODEL = "llama3-8b";
  static final TransformerShape SHAPE = Transformers.find(MODEL).orElseThrow().shape();
  static final int HEAD = 33;
  static final List<String> LAYERS =
      IntStream.rangeClosed(0, HEAD)
          .mapToObj(i -> i == 0 ? "embedding" : i == HEAD ? "head" : "block-" + i)
          .toList();

  private final String schedule;
  private final int microBatches;
  private final int microBatch;
  private int replicas = 1;
  private boolean overlaps;
  private ZeroStage sharding = ZeroStage.NOTHING;
  private final List<StagePlan> stages = new ArrayList<>();

  private SamplePlans(String schedule, int microBatches, int microBatch) {
    this.schedule = schedule;
    this.microBatches = microBatches;
    this.microBatch = microBatch;
  }

  /**
   * A step.
   *
   * @param microBatch samples for each replica of the pipeline
   */
  public static SamplePlans of(String schedule, int microBatches, int microBatch) {
    return new SamplePlans(schedule, microBatches, microBatch);
  }

  SamplePlans replicas(int count) {
    replicas = count;
    return this;
  }

  SamplePlans overlapping() {
    overlaps = true;
    return this;
  }

  SamplePlans zero(int level) {
    sharding = ZeroStage.of(level).orElseThrow();
    return this;
  }

  /** The next stage, up to a layer; runs of recomputed layers as first and last in turn. */
  SamplePlans stage(int last, List<Integer> devices, String parallelism, int... runs) {
    int first = stages.isEmpty() ? 0 : stages.get(stages.size() - 1).lastLayer() + 1;
    List<LayerRange> recomputed = new ArrayList<>();
    for (int i = 0; i < runs.length; i += 2) {
      recomputed.add(new LayerRange(runs[i], runs[i + 1]));
    }
    stages.add(
        new StagePlan(
                first,
                last,
                devices,
                Parallelism.parse(parallelism).orElseThrow(),
                Recompute.NONE,
                1,
                List.of())
            .selective(recomputed));
    return this;
  }

  /** The next stage without division and recomputation. */
  SamplePlans stage(int last, Integer... devices) {
    return stage(last, Arrays.asList(devices), "none:1");
  }

  PipelinePlan plan() {
    int ranks = (int) stages.stream().map(StagePlan::devices).distinct().count();
    ScheduleSpec spec =
        PlanChanges.schedule(schedule, ranks, stages.size() / ranks, microBatches).orElseThrow();
    int[] inFlight = spec.inFlight(stages.size(), microBatches);
    List<StagePlan> made = new ArrayList<>();
    for (StagePlan stage : stages) {
      int held = inFlight[made.size()];
      made.add(PlanChanges.on(stage, stage.devices(), stage.parallelism(), held));
    }
    return new PipelinePlan(spec, microBatches, microBatch, replicas, overlaps, made, sharding);
  }

  static List<Integer> devices(int first, int count) {
    return PlanChanges.devices(first, count);
  }

  static ExportSubject exported(PipelinePlan plan) {
    return exported(plan, Optimizer.ADAM);
  }

  static ExportSubject exported(PipelinePlan plan, Optimizer rule) {
    return new ExportSubject(
        plan,
        MODEL,
        Optional.of(SHAPE),
        TransformerConstants.NONE,
        LAYERS,
        8,
        new Training(rule, Precision.BF16));
  }

  /** Under which a target's file can be read back. */
  static ExportOptions options(String target) {
    return target.equals("torchtitan")
        ? new ExportOptions(Optional.empty(), Optional.of("0.2.2"))
        : ExportOptions.NONE;
  }

  /** The plan of a name. */
  static PipelinePlan named(Map<String, PipelinePlan> plans, String name) {
    return Objects.requireNonNull(plans.get(name), name);
  }

  /** Runs of single layers, for {@link #stage}. */
  static int[] each(int first, int last) {
    return IntStream.rangeClosed(first, last).flatMap(i -> IntStream.of(i, i)).toArray();
  }

  /** Plans that Megatron can say, by what is special of them. */
  static Map<String, PipelinePlan> ofMegatron() {
    Map<String, PipelinePlan> plans = new LinkedHashMap<>();
    plans.put("one device", of("1f1b", 4, 1).stage(HEAD, 0).plan());
    plans.put("data", of("1f1b", 2, 16).overlapping().stage(HEAD, devices(0, 8), "none:1").plan());
    plans.put("tensor", of("1f1b", 4, 2).stage(HEAD, devices(0, 8), "tensor:8").plan());
    plans.put(
        "hybrid",
        of("1f1b", 8, 4)
            .overlapping()
            .stage(16, devices(0, 4), "sequence:2")
            .stage(HEAD, devices(4, 4), "sequence:2")
            .plan());
    plans.put(
        "uneven", of("1f1b", 16, 1).stage(10, 0).stage(18, 1).stage(27, 2).stage(HEAD, 3).plan());
    plans.put(
        "embedding alone",
        of("1f1b", 16, 2).stage(0, 0, 1).stage(16, 2, 3).stage(32, 4, 5).stage(HEAD, 6, 7).plan());
    plans.put("interleaved", interleaved(new int[] {8, 16, 24, HEAD}, 2));
    plans.put("interleaved, uneven", interleaved(new int[] {3, 8, 12, 17, 21, 26, 30, HEAD}, 4));
    plans.put("context", of("1f1b", 4, 2).stage(HEAD, devices(0, 8), "context:4").plan());
    plans.put("context and tensor", contextAndTensor(1));
    plans.put(
        "experts", // of whole sequences
        of("1f1b", 8, 8)
            .overlapping()
            .stage(16, devices(0, 4), "expert:2x1")
            .stage(HEAD, devices(4, 4), "expert:2x1")
            .plan());
    plans.put(
        "experts and tensor",
        of("1f1b", 8, 8)
            .zero(1)
            .stage(16, devices(0, 8), "expert:2x2")
            .stage(HEAD, devices(8, 8), "expert:2x2")
            .plan());
    plans.put(
        "experts and context", // a sequence for two devices
        of("1f1b", 8, 2)
            .overlapping()
            .stage(16, devices(0, 4), "expert:2")
            .stage(HEAD, devices(4, 4), "expert:2")
            .plan());
    plans.put(
        "t8, ZeRO 1",
        of("1f1b", 8, 4)
            .zero(1)
            .overlapping()
            .stage(16, devices(0, 16), "sequence:8")
            .stage(HEAD, devices(16, 16), "sequence:8")
            .plan());
    plans.put(
        "every block recomputed",
        of("1f1b", 8, 2)
            .zero(1)
            .stage(16, devices(0, 2), "tensor:2", each(1, 16))
            .stage(HEAD, devices(2, 2), "tensor:2", each(17, 32))
            .plan());
    plans.put(
        "runs of four recomputed",
        of("1f1b", 8, 1)
            .stage(8, devices(0, 1), "none:1", 1, 4, 5, 8)
            .stage(HEAD, devices(1, 1), "none:1", 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29, 32)
            .plan());
    plans.put(
        "some blocks recomputed",
        of("1f1b", 8, 1)
            .stage(10, devices(0, 1), "none:1", each(1, 3))
            .stage(HEAD, devices(1, 1), "none:1", each(11, 13))
            .plan());
    plans.put(
        "pipelines one by one",
        of("1f1b", 8, 1).replicas(2).stage(16, 0, 2).stage(HEAD, 1, 3).plan());
    plans.put("ZeRO 3", zero3());
    return plans;
  }

  /** Two context-parallel ranks of four tensor-parallel ones in each of two stages. */
  private static PipelinePlan contextAndTensor(int zero) {
    return of("1f1b", 8, 2)
        .zero(zero)
        .overlapping()
        .stage(16, devices(0, 8), "sequence:2x4")
        .stage(HEAD, devices(8, 8), "sequence:2x4")
        .plan();
  }

  private static PipelinePlan zero3() {
    return of("1f1b", 1, 16).zero(3).overlapping().stage(HEAD, devices(0, 8), "none:1").plan();
  }

  /** Plans that torchtitan can say. */
  static Map<String, PipelinePlan> ofTorchtitan() {
    Map<String, PipelinePlan> plans = new LinkedHashMap<>();
    plans.put("DDP", of("1f1b", 2, 16).overlapping().stage(HEAD, devices(0, 8), "none:1").plan());
    plans.put("ZeRO 3", zero3());
    plans.put(
        "ZeRO 2 and t8",
        of("1f1b", 4, 2).zero(2).overlapping().stage(HEAD, devices(0, 16), "sequence:8").plan());
    plans.put("context and tensor", contextAndTensor(2));
    plans.put(
        "context",
        of("1f1b", 4, 2).zero(3).overlapping().stage(HEAD, devices(0, 8), "context:4").plan());
    plans.put(
        "experts and tensor",
        of("1f1b", 8, 8)
            .zero(2)
            .overlapping()
            .stage(16, devices(0, 8), "expert:2x2")
            .stage(HEAD, devices(8, 8), "expert:2x2")
            .plan());
    plans.put(
        "experts",
        of("1f1b", 4, 8).zero(3).overlapping().stage(HEAD, devices(0, 8), "expert:4x1").plan());
    plans.put(
        "experts and context",
        of("1f1b", 4, 2).zero(3).overlapping().stage(HEAD, devices(0, 8), "expert:4").plan());
    plans.put(
        "hybrid, every block recomputed",
        of("1f1b", 8, 4)
            .zero(2)
            .overlapping()
            .stage(16, devices(0, 4), "sequence:2", each(1, 16))
            .stage(HEAD, devices(4, 4), "sequence:2", each(17, 32))
            .plan());
    plans.put(
        "uneven, GPipe",
        of("gpipe", 16, 4)
            .zero(3)
            .overlapping()
            .stage(10, devices(0, 2), "none:1")
            .stage(18, devices(2, 2), "none:1")
            .stage(27, devices(4, 2), "none:1")
            .stage(HEAD, devices(6, 2), "none:1")
            .plan());
    for (String looped : List.of("interleaved", "looped-bfs", "interleaved-zb")) {
      SamplePlans plan = of(looped, 8, 2).zero(2).overlapping();
      for (int s = 0; s < 4; s++) {
        plan.stage(s == 3 ? HEAD : 8 * s + 7, devices(s % 2 * 2, 2), "none:1");
      }
      plans.put(looped, plan.plan());
    }
    SamplePlans v = of("dualpipev", 8, 2).zero(2).overlapping();
    for (int s = 0; s < 4; s++) {
      v.stage(s == 3 ? HEAD : 8 * s + 7, devices((s < 2 ? s : 3 - s) * 2, 2), "none:1");
    }
    plans.put("dualpipev", v.plan());
    plans.put(
        "embedding alone",
        of("1f1b", 16, 2)
            .zero(2)
            .overlapping()
            .stage(0, 0, 1)
            .stage(16, 2, 3)
            .stage(32, 4, 5)
            .stage(HEAD, 6, 7)
            .plan());
    return plans;
  }

  /** Plans that Galvatron can say. */
  static Map<String, PipelinePlan> ofGalvatron() {
    Map<String, PipelinePlan> plans = new LinkedHashMap<>();
    plans.put("data", of("1f1b", 2, 16).overlapping().stage(HEAD, devices(0, 8), "none:1").plan());
    plans.put("ZeRO 3", zero3());
    plans.put(
        "t8, ZeRO 2",
        of("1f1b", 4, 2).zero(2).overlapping().stage(HEAD, devices(0, 16), "tensor:8").plan());
    plans.put(
        "degrees of stages",
        of("1f1b", 8, 4)
            .overlapping()
            .stage(12, devices(0, 4), "tensor:4")
            .stage(HEAD, devices(4, 4), "tensor:2")
            .plan());
    plans.put(
        "some blocks recomputed",
        of("1f1b", 8, 4)
            .zero(2)
            .overlapping()
            .stage(12, devices(0, 4), "tensor:2", 1, 1, 5, 5)
            .stage(HEAD, devices(4, 4), "tensor:2", 32, 32)
            .plan());
    plans.put(
        "GPipe",
        of("gpipe", 8, 4)
            .overlapping()
            .stage(16, devices(0, 4), "none:1")
            .stage(HEAD, devices(4, 4), "none:1")
            .plan());
    return plans;
  }

  /** Plans that DeepSpeed can say. */
  static Map<String, PipelinePlan> ofDeepSpeed() {
    Map<String, PipelinePlan> plans = new LinkedHashMap<>();
    plans.put("data", of("1f1b", 2, 16).stage(HEAD, devices(0, 8), "none:1").plan());
    plans.put("ZeRO 3", zero3());
    plans.put(
        "ZeRO 1 with a pipeline",
        of("1f1b", 8, 4)
            .zero(1)
            .stage(12, devices(0, 4), "tensor:2")
            .stage(HEAD, devices(4, 4), "tensor:2")
            .plan());
    plans.put(
        "stages recomputed",
        of("1f1b", 8, 4)
            .stage(12, devices(0, 4), "none:1", 0, 12)
            .stage(HEAD, devices(4, 4), "none:1", 13, HEAD)
            .plan());
    plans.put(
        "pairs recomputed",
        of("1f1b", 8, 1)
            .stage(2, devices(0, 1), "none:1", 0, 1, 2, 2)
            .stage(HEAD, devices(1, 1), "none:1", pairs(3, HEAD))
            .plan());
    plans.put(
        "t8, ZeRO 1",
        of("1f1b", 8, 2)
            .zero(1)
            .stage(10, devices(0, 16), "tensor:8")
            .stage(HEAD, devices(16, 16), "tensor:8")
            .plan());
    return plans;
  }

  /** Two layers in a run, the last by itself where they are odd. */
  private static int[] pairs(int first, int last) {
    return IntStream.iterate(first, i -> i <= last, i -> i + 2)
        .flatMap(i -> IntStream.of(i, Math.min(i + 1, last)))
        .toArray();
  }

  /** Stages up to these layers, dealt out to two ranks of as many devices each. */
  private static PipelinePlan interleaved(int[] ends, int devices) {
    SamplePlans plan = of("interleaved", 8, devices).zero(1).overlapping();
    for (int s = 0; s < ends.length; s++) {
      plan.stage(ends[s], devices(s % 2 * devices, devices), "none:1");
    }
    return plan.plan();
  }
}
