package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.OneForwardOneBackward;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whole runs of workers that share out states of a stage. */
class ShardedRunsTest {
  @TempDir private Path folder;

  /** Two stages of {@link Runs#MODEL}. */
  private static Assignment sharded(ZeroStage sharding, int first, int second) {
    return Runs.stages(OneForwardOneBackward.of(2, 2), List.of(first, second), 0, 2)
        .sharded(sharding);
  }

  private static Runs runs(Workers workers, int steps, int every) {
    Assignment alone = Runs.stages(OneForwardOneBackward.of(1, 2), List.of(1), 0);
    return new Runs(Runs.MODEL, alone, Optimizer.ADAM, workers, steps, every);
  }

  /** Parameters and what the optimizer remembers of them are put together for the checkpoint. */
  @ParameterizedTest
  @EnumSource(Workers.class)
  void endWhereOneWorkerEnds(Workers workers) {
    runs(Workers.THREADS, 4, 4).run(folder.resolve("alone"));
    runs(workers, 4, 4).with(sharded(ZeroStage.PARAMETERS, 2, 1)).run(folder.resolve("sharded"));
    Runs.near(
        Runs.state(folder.resolve("alone")), Runs.state(folder.resolve("sharded")), 1e-5, 1e-7);
  }

  @Test
  void goOnWithAnotherLevelAndAnotherPlan() {
    runs(Workers.THREADS, 8, 8).run(folder.resolve("whole"));
    List<StageLayers> split =
        sharded(ZeroStage.NOTHING, 1, 1).stages().stream()
            .map(stage -> stage.with(Parallelism.of(Kind.FILTER, 2)))
            .toList();
    List<Assignment> plans =
        List.of(
            sharded(ZeroStage.PARAMETERS, 3, 2),
            sharded(ZeroStage.OPTIMIZER, 1, 4),
            sharded(ZeroStage.GRADIENTS, 2, 2),
            new Assignment(OneForwardOneBackward.of(2, 2), split, List.of(4, 2), Runs.BATCH, true)
                .sharded(ZeroStage.PARAMETERS));
    Path before = folder;
    for (int i = 0; i < plans.size(); i++) {
      Path next = folder.resolve("part-" + i);
      Runs runs = runs(Workers.THREADS, 2 * i + 2, 2).with(plans.get(i));
      if (i == 0) {
        runs.run(next);
      } else {
        runs.resume(before, next);
      }
      before = next;
    }
    Runs.near(Runs.state(folder.resolve("whole")), Runs.state(before), 1e-5, 1e-7);
  }

  /**
   * Six layers of 5.3 MB and Adam. Each worker has half of the moments, then also half of
   * parameters and sums of gradients, and while it computes, parameters of two layers and gradients
   * of two. Memory is bounded, not compared.
   */
  @Test
  void processesHoldLess() {
    double layer = 4.0 * 1152 * 1152;
    double slack = 8 << 20; // Java compiles and collects meanwhile
    double whole = peak(ZeroStage.NOTHING);
    double moments = peak(ZeroStage.OPTIMIZER);
    double all = peak(ZeroStage.PARAMETERS);
    String found = "%s, %s, %s".formatted(whole, moments, all);
    assertTrue(whole >= (6 + 12 + 6) * layer - slack, found);
    assertTrue(moments <= whole - 6 * layer + slack, found);
    assertTrue(all <= (3 + 6 + 3) * layer + (2 + 2) * layer + slack, found);
  }

  private double peak(ZeroStage sharding) {
    String model = "mlp:layers=6,hidden=1152,in=1152,classes=4";
    Assignment two =
        new Assignment(
            OneForwardOneBackward.of(1, 1),
            List.of(StageLayers.keeping(0, 7)),
            List.of(2),
            8,
            true);
    Runs runs = new Runs(model, two.sharded(sharding), Optimizer.ADAM, Workers.PROCESSES, 6, 0);
    TrainingOutcome outcome =
        new Trainer()
            .train(
                runs.request(folder.resolve(sharding.name()), Optional.empty()).frugal(6),
                step -> {});
    return outcome.workers().stream()
        .mapToDouble(TrainingOutcome.Worker::peakBytes)
        .max()
        .orElse(0);
  }

  @Test
  void whatCannotBeSharedOutIsSaidBeforeTheStart() {
    Runs runs = runs(Workers.THREADS, 2, 2).with(sharded(ZeroStage.PARAMETERS, 7, 1));
    BadInputException mistake =
        assertThrows(
            BadInputException.class,
            () -> new Trainer().train(runs.request(folder, Optional.empty()), step -> {}));
    assertEquals(
        "--zero: all replicas get parameters for each of their micro-batches, but one of 5 samples"
            + " leaves some of 7 without any; take larger micro-batches, or 2",
        mistake.getMessage());
  }

  /**
   * Each of two workers needs half of what is shared out. While it computes: gradients of a layer,
   * those of the layer behind it, what comes from the other worker and the sum; and at the highest
   * level parameters of two layers, when the sum is not yet there.
   */
  @Test
  void lessIsNeededThanOfWholeStates() {
    double layer = 4.0 * 4096 * 4097;
    double all = 20 * layer + 4.0 * 4 * 4097; // and the classifier
    double processes = 2.0 * MemoryNeed.PROCESS_BYTES;
    double sums = all / 2;
    assertEquals(2 * 4 * all, needed(ZeroStage.NOTHING) - processes, layer / 10);
    double shared = 2 * (2 * all + sums + 2 * layer);
    assertEquals(shared, needed(ZeroStage.OPTIMIZER) - processes, layer / 10);
    assertEquals(shared, needed(ZeroStage.GRADIENTS) - processes, layer / 10);
    double least = 2 * (all / 2 + all + sums + 3 * layer);
    assertEquals(least, needed(ZeroStage.PARAMETERS) - processes, layer / 10);
  }

  private double needed(ZeroStage sharding) {
    String model = "mlp:layers=20,hidden=4096,in=4096,classes=4";
    LayerGraph graph = RunnableModel.of(model);
    Assignment two =
        new Assignment(
            OneForwardOneBackward.of(1, 1),
            List.of(StageLayers.keeping(0, Chain.of(graph).size() - 1)),
            List.of(2),
            8,
            true);
    Runs runs = new Runs(model, two.sharded(sharding), Optimizer.ADAM, Workers.PROCESSES, 6, 0);
    return MemoryNeed.bytes(runs.request(folder, Optional.empty()), graph);
  }
}
