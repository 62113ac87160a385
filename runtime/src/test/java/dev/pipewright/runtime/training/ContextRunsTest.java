package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
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
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.OneForwardOneBackward;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whole runs whose workers divide tokens, and experts, in processes and in threads. */
class ContextRunsTest {
  private static final String GPT = "gpt:layers=2,hidden=16,heads=4,sequence=8,vocabulary=31";
  private static final String LLAMA =
      "llama:layers=2,hidden=16,heads=4,kv-heads=2,ffn=20,sequence=8,vocabulary=31";
  private static final String MIXTRAL =
      "mixtral:layers=2,hidden=16,heads=4,kv-heads=2,ffn=12,sequence=8,vocabulary=31,experts=4,chosen=2";
  private static final int LAST = Chain.of(RunnableModel.of(LLAMA)).size() - 1;

  @TempDir private Path folder;

  private static Assignment one(Parallelism split, int replicas) {
    List<StageLayers> all = List.of(StageLayers.keeping(0, LAST).with(split));
    List<Integer> workers = List.of(replicas * split.parts());
    return new Assignment(OneForwardOneBackward.of(1, 2), all, workers, Runs.BATCH, true);
  }

  /** Workers that divide experts and have whole sequences. */
  @ParameterizedTest
  @EnumSource(ZeroStage.class)
  void expertsOfWholeSequencesEndWhereOneWorkerEnds(ZeroStage sharding) {
    runs(MIXTRAL, one(Parallelism.NONE, 1), Workers.THREADS, 4).run(folder.resolve("alone"));
    Assignment four = one(Parallelism.ofWholeSequences(2), 2).sharded(sharding);
    runs(MIXTRAL, four, Workers.THREADS, 4).run(folder.resolve("four"));
    Runs.near(Runs.state(folder.resolve("alone")), Runs.state(folder.resolve("four")), 1e-5, 1e-7);
  }

  /** Tensor-parallel groups with samples of their own, whose workers have some experts each. */
  @ParameterizedTest
  @EnumSource(ZeroStage.class)
  void expertsOfGroupsEndWhereOneWorkerEnds(ZeroStage sharding) {
    Workers workers = sharding == ZeroStage.OPTIMIZER ? Workers.PROCESSES : Workers.THREADS;
    runs(MIXTRAL, one(Parallelism.NONE, 1), Workers.THREADS, 4).run(folder.resolve("alone"));
    for (int replicas : List.of(1, 2)) {
      Path own = folder.resolve("copies" + replicas);
      Assignment copies = one(Parallelism.ofExpertCopies(2, 2), replicas).sharded(sharding);
      runs(MIXTRAL, copies, workers, 4).run(own);
      Runs.near(Runs.state(folder.resolve("alone")), Runs.state(own), 1e-5, 1e-7);
    }
  }

  /** Tensor-parallel groups that divide tokens among them. */
  @ParameterizedTest
  @EnumSource(ZeroStage.class)
  void copiesOfGroupsEndWhereOneWorkerEnds(ZeroStage sharding) {
    Workers workers = sharding == ZeroStage.OPTIMIZER ? Workers.PROCESSES : Workers.THREADS;
    for (String model : List.of(GPT, LLAMA, MIXTRAL)) {
      Path own = folder.resolve(model.substring(0, 3));
      runs(model, one(Parallelism.NONE, 1), Workers.THREADS, 4).run(own.resolve("alone"));
      Assignment four = one(Parallelism.ofCopies(2, 2), 1).sharded(sharding);
      runs(model, four, workers, 4).run(own.resolve("four"));
      Runs.near(Runs.state(own.resolve("alone")), Runs.state(own.resolve("four")), 1e-5, 1e-7);
    }
  }

  private static Parallelism divided(String model, int parts) {
    return Parallelism.of(model.equals(MIXTRAL) ? Kind.EXPERT : Kind.CONTEXT, parts);
  }

  private static Assignment two(String model, int first, int second) {
    List<StageLayers> stages =
        List.of(
            StageLayers.keeping(0, 1).with(divided(model, first)),
            StageLayers.keeping(2, LAST).with(divided(model, second)));
    List<Integer> workers = List.of(first, second);
    return new Assignment(OneForwardOneBackward.of(2, 2), stages, workers, Runs.BATCH, true);
  }

  private static Runs runs(String model, Assignment assignment, Workers workers, int steps) {
    return new Runs(model, assignment, Optimizer.MOMENTUM, workers, steps, steps);
  }

  @ParameterizedTest
  @EnumSource(Workers.class)
  void endWhereOneWorkerEnds(Workers workers) {
    for (String model : List.of(GPT, LLAMA, MIXTRAL)) {
      Path own = folder.resolve(model.substring(0, 3));
      runs(model, one(Parallelism.NONE, 1), Workers.THREADS, 4).run(own.resolve("alone"));
      runs(model, one(divided(model, 2), 1), workers, 4).run(own.resolve("two"));
      Runs.near(Runs.state(own.resolve("alone")), Runs.state(own.resolve("two")), 1e-5, 1e-7);
    }
  }

  /** Shards are of all parameters, whose gradients are sums over tokens and replicas. */
  @ParameterizedTest
  @EnumSource(ZeroStage.class)
  void replicasShareTheirStatesOut(ZeroStage sharding) {
    for (String model : List.of(GPT, LLAMA, MIXTRAL)) {
      Path own = folder.resolve(model.substring(0, 3));
      runs(model, one(Parallelism.NONE, 1), Workers.THREADS, 4).run(own.resolve("alone"));
      Assignment four = one(divided(model, 2), 2).sharded(sharding);
      runs(model, four, Workers.THREADS, 4).run(own.resolve("four"));
      Runs.near(Runs.state(own.resolve("alone")), Runs.state(own.resolve("four")), 1e-5, 1e-7);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GPT, LLAMA, MIXTRAL})
  void goOnInOneWorkerAndBack(String model) {
    runs(model, one(Parallelism.NONE, 1), Workers.THREADS, 6).run(folder.resolve("whole"));
    runs(model, two(model, 3, 2), Workers.THREADS, 2).run(folder.resolve("begun"));
    runs(model, one(Parallelism.NONE, 1), Workers.THREADS, 4)
        .resume(folder.resolve("begun"), folder.resolve("alone"));
    Parallelism copies =
        model.equals(MIXTRAL) ? Parallelism.ofExpertCopies(2, 2) : Parallelism.ofCopies(2, 2);
    runs(model, one(copies, 1), Workers.THREADS, 5)
        .resume(folder.resolve("alone"), folder.resolve("copies"));
    runs(model, one(divided(model, 4), 1), Workers.THREADS, 6)
        .resume(folder.resolve("copies"), folder.resolve("ended"));
    Runs.near(Runs.state(folder.resolve("whole")), Runs.state(folder.resolve("ended")), 1e-5, 1e-7);
  }

  private static List<HeldOutResult> heldOut(String model, Assignment assignment) {
    return heldOut(model, OptionalInt.empty(), assignment, Workers.THREADS);
  }

  private static List<HeldOutResult> heldOut(
      String model, OptionalInt sequence, Assignment assignment, Workers workers) {
    TrainingRequest request =
        new TrainingRequest(
            model,
            sequence,
            assignment,
            new Learning(UpdateRule.usual(Optimizer.ADAM), "synthetic,samples=230", 20, Runs.SEED)
                .evaluatingEvery(10),
            Execution.usual(workers),
            Keeping.NOTHING);
    return new Trainer().train(request, step -> {}).heldOut();
  }

  /** Processes learn the length from their jobs. */
  @ParameterizedTest
  @EnumSource(Workers.class)
  void aChosenLengthTrainsAsTheNetworkOfThatLength(Workers workers) {
    String longer = LLAMA.replaceFirst("sequence=\\d+", "sequence=64");
    assertNotEquals(LLAMA, longer);
    int own = Integer.parseInt(LLAMA.replaceFirst(".*sequence=(\\d+).*", "$1"));
    Assignment whole = one(Parallelism.NONE, 1);
    assertEquals(heldOut(LLAMA, whole), heldOut(longer, OptionalInt.of(own), whole, workers));
  }

  /** Each worker counts what it judges. */
  @ParameterizedTest
  @ValueSource(strings = {LLAMA, MIXTRAL})
  void heldOutSamplesAreAnsweredAlike(String model) {
    List<HeldOutResult> alone = heldOut(model, one(Parallelism.NONE, 1));
    for (Assignment divided :
        List.of(
            one(divided(model, 3), 1),
            one(Parallelism.ofCopies(2, 2), 1),
            one(model.equals(MIXTRAL) ? Parallelism.ofExpertCopies(2, 2) : divided(model, 4), 1),
            two(model, 2, 2),
            one(model.equals(MIXTRAL) ? Parallelism.ofWholeSequences(3) : divided(model, 2), 1))) {
      List<HeldOutResult> found = heldOut(model, divided);
      assertEquals(alone.size(), found.size());
      for (int i = 0; i < found.size(); i++) {
        assertEquals(alone.get(i).loss(), found.get(i).loss(), 1e-3 * alone.get(i).loss());
        assertEquals(alone.get(i).correct(), found.get(i).correct(), 0.01);
        assertTrue(found.get(i).correct() > 0);
      }
    }
  }
}
