package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.schedule.OneForwardOneBackward;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a run will need, of a network that is hardly more than its parameters. */
class MemoryNeedTest {
  private static final String WIDE = "mlp:layers=3,hidden=4096,in=4096,classes=4";
  private static final LayerGraph GRAPH = RunnableModel.of(WIDE);
  private static final int LAST = Chain.of(GRAPH).size() - 1;

  private static double bytes(Assignment assignment) {
    Runs runs = new Runs(WIDE, assignment, Optimizer.ADAM, Workers.THREADS, 2, 0);
    TrainingRequest request = runs.request(Path.of("unused"), Optional.empty());
    return MemoryNeed.bytes(request, GRAPH);
  }

  private static Assignment of(Parallelism split, int workers) {
    StageLayers all = StageLayers.keeping(0, LAST).with(split);
    return new Assignment(
        OneForwardOneBackward.of(1, 1), List.of(all), List.of(workers), Runs.BATCH, false);
  }

  /** Replicas hold everything as often as there are of them, parts of layers hold it once. */
  @Test
  void partsOfLayersTogetherNeedWhatOneWorkerNeeds() {
    double alone = bytes(of(Parallelism.NONE, 1));
    assertEquals(2 * alone, bytes(of(Parallelism.NONE, 2)), 0.01 * alone);
    assertEquals(alone, bytes(of(Parallelism.of(Kind.FILTER, 2), 2)), 0.01 * alone);
    assertEquals(2 * alone, bytes(of(Parallelism.of(Kind.FILTER, 2), 4)), 0.02 * alone);
  }

  /** Four numbers for each parameter under Adam, and of the first stage's one for its version. */
  @Test
  void versionsAreCounted() {
    StageLayers first = StageLayers.keeping(0, 2);
    List<StageLayers> stages = List.of(first, StageLayers.keeping(3, LAST));
    AsyncPipeline asyncPipeline = new AsyncPipeline.PipeDream(List.of(1, 1), false);
    double asynchronous = bytes(Assignment.of(asyncPipeline, stages, List.of(1, 1), Runs.BATCH));
    double version = 2.0 * 4096 * 4096 * 4;
    double alone = bytes(of(Parallelism.NONE, 1));
    assertTrue(alone > 4 * 1.5 * version, "three layers, four numbers for each parameter");
    assertEquals(alone + version, asynchronous, 0.01 * alone);
  }
}
