package dev.pipewright.formats.export;

import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The forms in which frameworks recompute a stage: which runs of layers keep only their input. A
 * form is what a framework's settings say of every stage; whether a plan has it is compared by its
 * runs.
 */
public final class RecomputeForm {
  private RecomputeForm() {}

  /**
   * Runs of a decoder's blocks.
   *
   * @param first position of the stage's first block
   * @param blocks of the stage
   * @param each blocks of a run; the last run may be shorter
   * @param most blocks that are recomputed, from the first on
   */
  public static List<LayerRange> runs(int first, int blocks, int each, int most) {
    List<LayerRange> runs = new ArrayList<>();
    int end = first + Math.min(blocks, most);
    for (int from = first; from < end; from += each) {
      runs.add(new LayerRange(from, Math.min(end, from + each) - 1));
    }
    return runs;
  }

  /** Whether no stage of a plan recomputes. */
  static boolean none(PipelinePlan plan) {
    return plan.stages().stream().allMatch(stage -> stage.recompute() == Recompute.NONE);
  }

  /** Whether a plan keeps all of the last micro-batch only, which no framework's settings say. */
  private static boolean exceptLast(PipelinePlan plan) {
    return plan.stages().stream().anyMatch(stage -> stage.recompute() == Recompute.EXCEPT_LAST);
  }

  /** The runs of all stages of a decoder, {@code each} blocks in a run. */
  private static List<List<LayerRange>> ofBlocks(ExportSubject exported, int each, int most) {
    List<List<LayerRange>> all = new ArrayList<>();
    for (int s = 0; s < exported.plan().stages().size(); s++) {
      all.add(runs(exported.firstBlock(s) + 1, exported.blocks(s), each, most));
    }
    return all;
  }

  /** The runs of all stages, {@code each} layers in a run. */
  private static List<List<LayerRange>> ofLayers(PipelinePlan plan, int each) {
    List<List<LayerRange>> all = new ArrayList<>();
    for (StagePlan stage : plan.stages()) {
      int layers = stage.lastLayer() - stage.firstLayer() + 1;
      all.add(runs(stage.firstLayer(), layers, each, layers));
    }
    return all;
  }

  private static boolean has(PipelinePlan plan, List<List<LayerRange>> runs) {
    for (int s = 0; s < runs.size(); s++) {
      if (!plan.stages().get(s).recomputed().equals(runs.get(s))) {
        return false;
      }
    }
    return !exceptLast(plan);
  }

  private static Optional<PipelinePlan> with(PipelinePlan plan, List<List<LayerRange>> runs) {
    return PlanChanges.checked(() -> {
      List<StagePlan> stages = new ArrayList<>();
      for (StagePlan stage : plan.stages()) {
        stages.add(stage.selective(runs.get(stages.size())));
      }
      return plan.with(stages);
    });
  }

  /**
   * Megatron's full recomputation.
   *
   * @param method {@code uniform} or {@code block}
   * @param layers the number that goes with it
   */
  record Full(String method, int layers) {}

  /** What a plan recomputes, as Megatron says it; empty where it recomputes nothing. */
  static Optional<Full> full(ExportSubject exported) {
    if (none(exported.plan())) {
      return Optional.empty();
    }
    OptionalInt uniform = uniform(exported);
    return Optional.of(
        uniform.isPresent()
            ? new Full("uniform", uniform.getAsInt())
            : new Full("block", block(exported).orElseThrow()));
  }

  /** Megatron's {@code uniform}: all blocks of each stage, so many in a run that divides each. */
  private static OptionalInt uniform(ExportSubject exported) {
    int most = exported.plan().stages().size();
    int longest = 0;
    for (int s = 0; s < most; s++) {
      longest = Math.max(longest, exported.blocks(s));
    }
    for (int each = 1; each <= longest; each++) {
      if (divides(exported, each) && has(exported.plan(), ofBlocks(exported, each, longest))) {
        return OptionalInt.of(each);
      }
    }
    return OptionalInt.empty();
  }

  private static boolean divides(ExportSubject exported, int each) {
    for (int s = 0; s < exported.plan().stages().size(); s++) {
      if (exported.blocks(s) % each != 0) {
        return false;
      }
    }
    return true;
  }

  /** Megatron's {@code block}: so many blocks of each stage, one by one, from the first on. */
  private static OptionalInt block(ExportSubject exported) {
    int most = 0;
    for (StagePlan stage : exported.plan().stages()) {
      most = Math.max(most, stage.recomputed().size());
    }
    return most > 0 && has(exported.plan(), ofBlocks(exported, 1, most))
        ? OptionalInt.of(most)
        : OptionalInt.empty();
  }

  /** Nothing, or what Megatron's methods {@code uniform} and {@code block} recompute. */
  static ExportRule megatron() {
    return exported -> {
      if (none(exported.plan()) || uniform(exported).isPresent() || block(exported).isPresent()) {
        return Optional.empty();
      }
      return Optional.of(
          new Gap(
              described(exported.plan())
                  + " (it recomputes as many blocks of every stage, and neither embedding nor head)",
              nearestBlocks(exported)));
    };
  }

  /** As much of every stage as the plan recomputes of one. */
  private static Optional<PipelinePlan> nearestBlocks(ExportSubject exported) {
    PipelinePlan plan = exported.plan();
    int most = 0;
    int common = 0;
    boolean whole = true;
    for (int s = 0; s < plan.stages().size(); s++) {
      most = Math.max(most, recomputedBlocks(exported, s));
      common = gcd(common, exported.blocks(s));
      whole &= plan.stages().get(s).recompute().wholeStage();
    }
    int each = whole && common > 0 ? common : 1;
    return with(plan, ofBlocks(exported, each, whole ? Integer.MAX_VALUE / 2 : most));
  }

  private static int recomputedBlocks(ExportSubject exported, int stage) {
    int first = exported.firstBlock(stage) + 1;
    int last = exported.firstBlock(stage) + exported.blocks(stage);
    int count = 0;
    for (LayerRange run : exported.plan().stages().get(stage).recomputed()) {
      count += Math.max(0, Math.min(last, run.last()) - Math.max(first, run.first()) + 1);
    }
    return count;
  }

  private static int gcd(int a, int b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  /** Nothing, or every block by itself. */
  static ExportRule allBlocks() {
    return exported -> {
      List<List<LayerRange>> each = ofBlocks(exported, 1, exported.blocks());
      return none(exported.plan()) || has(exported.plan(), each)
          ? Optional.empty()
          : Optional.of(
              new Gap(
                  described(exported.plan())
                      + " (it recomputes every transformer block by itself or none)",
                  with(exported.plan(), each)));
    };
  }

  /** Any blocks, each by itself. */
  static ExportRule someBlocks() {
    return exported -> {
      PipelinePlan plan = exported.plan();
      List<List<LayerRange>> single = new ArrayList<>();
      for (StagePlan stage : plan.stages()) {
        List<LayerRange> runs = new ArrayList<>();
        for (LayerRange run : stage.recomputed()) {
          int last = Math.min(run.last(), exported.blocks());
          for (int layer = Math.max(1, run.first()); layer <= last; layer++) {
            runs.add(new LayerRange(layer, layer));
          }
        }
        single.add(runs);
      }
      return has(plan, single)
          ? Optional.empty()
          : Optional.of(
              new Gap(
                  described(plan)
                      + " (it recomputes transformer blocks one by one, and neither embedding nor head)",
                  with(plan, single)));
    };
  }

  /** DeepSpeed's interval: all layers of each stage, so many in a run. */
  static OptionalInt interval(PipelinePlan plan) {
    if (none(plan)) {
      return OptionalInt.of(0);
    }
    int longest = 0;
    for (StagePlan stage : plan.stages()) {
      longest = Math.max(longest, stage.lastLayer() - stage.firstLayer() + 1);
    }
    for (int each = 1; each <= longest; each++) {
      if (has(plan, ofLayers(plan, each))) {
        return OptionalInt.of(each);
      }
    }
    return OptionalInt.empty();
  }

  /** Nothing, or all layers of each stage in runs of so many. */
  static ExportRule intervals() {
    return exported -> {
      PipelinePlan plan = exported.plan();
      if (interval(plan).isPresent()) {
        return Optional.empty();
      }
      boolean whole = plan.stages().stream().anyMatch(s -> s.recompute().wholeStage());
      return Optional.of(
          new Gap(
              described(plan) + " (it recomputes all layers of every stage in equal runs or none)",
              with(plan, ofLayers(plan, whole ? plan.layers() : 1))));
    };
  }

  /** Any runs of layers, of every micro-batch alike. */
  static ExportRule everyMicroBatch() {
    return exported -> {
      PipelinePlan plan = exported.plan();
      return exceptLast(plan)
          ? Optional.of(
              new Gap(
                  "recomputation of all micro-batches but the last",
                  with(plan, plan.stages().stream().map(StagePlan::recomputed).toList())))
          : Optional.empty();
    };
  }

  private static String described(PipelinePlan plan) {
    StringBuilder some = new StringBuilder();
    int shown = 0;
    int recomputing = 0;
    for (int s = 0; s < plan.stages().size(); s++) {
      StagePlan stage = plan.stages().get(s);
      if (stage.recompute() == Recompute.NONE) {
        continue;
      }
      recomputing++;
      if (++shown <= 2) {
        String what =
            stage.recompute().wholeStage()
                ? "all of stage " + s
                : "%d %s of stage %d"
                    .formatted(layers(stage), layers(stage) == 1 ? "layer" : "layers", s);
        some.append(shown == 1 ? "" : ", ").append(what);
      }
    }
    return "recomputation of "
        + some
        + (shown > 2 ? " and some of %d more".formatted(shown - 2) : "")
        + (recomputing < plan.stages().size() ? " and not of all stages" : "");
  }

  private static int layers(StagePlan stage) {
    return stage.recomputed().stream().mapToInt(run -> run.last() - run.first() + 1).sum();
  }
}
