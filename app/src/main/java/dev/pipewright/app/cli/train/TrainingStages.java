package dev.pipewright.app.cli.train;

import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.PlanFiles;
import dev.pipewright.formats.PlanJson;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.OperatorPlan;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.plan.PatternPlan;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.periodic.RepeatedOp;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A plan's file for training: synchronous, asynchronous, or a pattern with several stages on a
 * device.
 *
 * @param stages with their devices, as many of each as it has workers
 */
public record TrainingStages(PlanFile<?> file, List<StagePlan> stages) {
  /** Throws {@link BadInputException} where no run can train with it. */
  public static TrainingStages of(Path path) {
    PlanFile<?> file = PlanFiles.read(path);
    return switch (file.plan()) {
      case PipelinePlan plan -> new TrainingStages(file, plan.stages());
      case AsynchronousPlan plan -> new TrainingStages(file, plan.stages());
      case PatternPlan plan -> new TrainingStages(file, stages(plan));
      case OperatorPlan plan -> refused(path);
    };
  }

  private static List<StagePlan> stages(PatternPlan plan) {
    return plan.stages().stream().map(TrainingStages::stage).toList();
  }

  private static StagePlan stage(PatternPlan.Stage stage) {
    Recompute recompute = stage.recompute();
    List<LayerRange> again = recompute == Recompute.SELECTIVE ? stage.again() : List.of();
    List<Integer> devices = List.of(stage.device());
    return new StagePlan(stage.first(), stage.end() - 1, devices, recompute, 1, again);
  }

  /** With the sentence of who wants steps that end. */
  private static TrainingStages refused(Path path) {
    PlanFile<PipelinePlan> file = PlanJson.read(path);
    return new TrainingStages(file, file.plan().stages());
  }

  MadeFor madeFor() {
    return file.madeFor();
  }

  /** Layers of the model's chain that it covers. */
  public int layers() {
    return stages.get(stages.size() - 1).lastLayer() + 1;
  }

  /** Devices by worker. */
  public List<Integer> devices() {
    return stages.stream().map(StagePlan::devices).flatMap(List::stream).distinct().toList();
  }

  /** With a worker for each device. */
  public Assignment assignment(LayerGraph graph) {
    return switch (file.plan()) {
      case PipelinePlan plan -> synchronous(plan, graph);
      case AsynchronousPlan plan -> asynchronous(plan);
      case PatternPlan plan -> repeated(plan);
      case OperatorPlan plan -> throw new IllegalStateException("refused before");
    };
  }

  private Assignment asynchronous(AsynchronousPlan plan) {
    boolean inTurn = plan.rule() == Rule.PIPEDREAM;
    AsyncPipeline asyncPipeline =
        inTurn
            ? new AsyncPipeline.PipeDream(stages.stream().map(StagePlan::replicas).toList(), false)
            : new AsyncPipeline.DoubleBuffered(
                stages.size(), plan.microBatches(), plan.replicas() > 1);
    int ranks = asyncPipeline.schedule(asyncPipeline.round()).ranks();
    return Assignment.of(
        asyncPipeline,
        stages.stream().map(TrainingStages::layers).toList(),
        Collections.nCopies(ranks, inTurn ? 1 : plan.replicas()),
        Math.toIntExact(plan.globalBatch()));
  }

  /** Its mini-batches are micro-batches of steps, as few as two versions of weights allow. */
  private Assignment repeated(PatternPlan plan) {
    List<Integer> devices = devices();
    List<Integer> ranks =
        plan.stages().stream().map(stage -> devices.indexOf(stage.device())).toList();
    List<RepeatedOp> passes = new ArrayList<>(); // stages of the file lie between transfers
    for (RepeatedOp op : plan.ops()) {
      if (op.stage() % 2 == 0) {
        passes.add(new RepeatedOp(op.pass(), op.stage() / 2, op.start(), op.shift()));
      }
    }
    AsyncPipeline.Repeated asyncPipeline = asyncPipeline(plan, ranks, passes);
    return Assignment.of(
        asyncPipeline,
        stages.stream().map(TrainingStages::layers).toList(),
        Collections.nCopies(devices.size(), 1),
        Math.multiplyExact(plan.microBatch(), asyncPipeline.microBatches()));
  }

  private static AsyncPipeline.Repeated asyncPipeline(
      PatternPlan plan, List<Integer> ranks, List<RepeatedOp> passes) {
    AsyncPipeline.Repeated asyncPipeline;
    try {
      asyncPipeline = AsyncPipeline.Repeated.of(ranks, plan.period(), plan.batches(), passes);
    } catch (IllegalArgumentException e) {
      throw new BadInputException("pattern: " + e.getMessage() + "; plan again");
    }
    if (!Validator.check(asyncPipeline.schedule(2), 1).isEmpty()) {
      throw new BadInputException(
          "pattern: its ops wait for each other in a circle; plan again, or see what `pipewright"
              + " check` says");
    }
    return asyncPipeline;
  }

  private static Assignment synchronous(PipelinePlan plan, LayerGraph graph) {
    ParallelismLimits limits = new ParallelismLimits(graph);
    PipelinePlan usual = limits.usual(plan);
    for (StagePlan stage : usual.stages()) {
      limits
          .refusal(stage.parallelism())
          .ifPresent(sentence -> {
            throw new BadInputException(
                "a stage divides its layers by %s: %s".formatted(stage.parallelism(), sentence));
          });
    }
    return Assignment.of(usual);
  }

  private static StageLayers layers(StagePlan stage) {
    LayerRange range = new LayerRange(stage.firstLayer(), stage.lastLayer());
    return new StageLayers(range, stage.recompute(), stage.again());
  }
}
