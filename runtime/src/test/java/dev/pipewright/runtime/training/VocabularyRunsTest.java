package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.HeldOutResult;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingRequest.Execution;
import dev.pipewright.execution.TrainingRequest.Keeping;
import dev.pipewright.execution.TrainingRequest.Learning;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.schedule.OneForwardOneBackward;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs whose workers divide embedding and head by words. */
class VocabularyRunsTest {
  private static final String MODEL =
      "gpt-untied:layers=2,hidden=16,heads=4,sequence=8,vocabulary=31";
  private static final int LAST = Chain.of(RunnableModel.of(MODEL)).size() - 1;

  @TempDir private Path folder;

  private static Assignment one(Parallelism split) {
    List<StageLayers> all = List.of(StageLayers.keeping(0, LAST).with(split));
    List<Integer> workers = List.of(split.parts());
    return new Assignment(OneForwardOneBackward.of(1, 2), all, workers, Runs.BATCH, true);
  }

  private static Assignment two(int first, int second) {
    return two(Kind.TENSOR, first, second);
  }

  private static Assignment two(Kind kind, int first, int second) {
    List<StageLayers> stages =
        List.of(
            StageLayers.keeping(0, 1).with(Parallelism.of(kind, first)),
            StageLayers.keeping(2, LAST).with(Parallelism.of(kind, second)));
    List<Integer> workers = List.of(first, second);
    return new Assignment(OneForwardOneBackward.of(2, 2), stages, workers, Runs.BATCH, true);
  }

  private static Runs runs(Assignment assignment, int steps) {
    return new Runs(MODEL, assignment, Optimizer.MOMENTUM, Workers.THREADS, steps, steps);
  }

  /** Checkpoints hold whole tables. */
  @Test
  void goOnInOneWorkerAndBack() {
    runs(one(Parallelism.NONE), 6).run(folder.resolve("whole"));
    runs(two(3, 2), 2).run(folder.resolve("begun"));
    runs(one(Parallelism.NONE), 4).resume(folder.resolve("begun"), folder.resolve("alone"));
    runs(two(Kind.SEQUENCE, 2, 3), 5).resume(folder.resolve("alone"), folder.resolve("steps"));
    runs(one(Parallelism.of(Kind.TENSOR, 4)), 6)
        .resume(folder.resolve("steps"), folder.resolve("ended"));
    Runs.near(Runs.state(folder.resolve("whole")), Runs.state(folder.resolve("ended")), 1e-5, 1e-7);
  }

  private static List<HeldOutResult> heldOut(Assignment assignment) {
    TrainingRequest request =
        new TrainingRequest(
            MODEL,
            OptionalInt.empty(),
            assignment,
            new Learning(UpdateRule.usual(Optimizer.ADAM), "synthetic,samples=230", 30, Runs.SEED)
                .evaluatingEvery(15),
            Execution.usual(Workers.THREADS),
            Keeping.NOTHING);
    return new Trainer().train(request, step -> {}).heldOut();
  }

  @Test
  void heldOutSamplesAreAnsweredAlike() {
    List<HeldOutResult> alone = heldOut(one(Parallelism.NONE));
    for (Assignment divided :
        List.of(
            one(Parallelism.of(Kind.TENSOR, 3)),
            one(Parallelism.of(Kind.SEQUENCE, 3)),
            two(2, 2))) {
      List<HeldOutResult> found = heldOut(divided);
      assertEquals(alone.size(), found.size());
      for (int i = 0; i < found.size(); i++) {
        assertEquals(alone.get(i).loss(), found.get(i).loss(), 1e-3 * alone.get(i).loss());
        assertEquals(alone.get(i).correct(), found.get(i).correct(), 0.01);
        assertTrue(found.get(i).correct() > 0);
      }
    }
  }
}
