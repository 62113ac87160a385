package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.model.Optimizer;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.cyclic.Cyclic;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Workers that die anywhere in a run, whatever its strategy ({@link Deaths}). */
class KillTest {
  private static final int STEPS = 6;
  private static final int EVERY = 2; // as many as PipeDream's round of two replicas

  @TempDir private static Path undisturbed;

  private static Deaths hybrid;
  private static final Map<String, Deaths> others = new TreeMap<>();

  @BeforeAll
  static void runUndisturbed() {
    hybrid =
        Deaths.of(Runs.hybrid(Workers.THREADS, STEPS + 1, EVERY), undisturbed.resolve("hybrid"));
    for (ZeroStage sharding :
        List.of(ZeroStage.OPTIMIZER, ZeroStage.GRADIENTS, ZeroStage.PARAMETERS)) {
      Assignment whole = Runs.stages(OneForwardOneBackward.of(2, 2), List.of(2, 2), 0, 2);
      add(sharding.name(), whole.sharded(sharding));
    }
    add("split", split());
    asyncPipeline(new AsyncPipeline.PipeDream(List.of(2, 1), false));
    asyncPipeline(new AsyncPipeline.DoubleBuffered(2, 3, false));
    for (Cyclic.Form form : Cyclic.Form.values()) {
      if (form != Cyclic.Form.SINGLE) { // which is one worker alone
        asyncPipeline(new AsyncPipeline.CyclicDataParallel(new Cyclic(2), form, Cyclic.Rule.V2));
      }
    }
    assertEquals(10, others.size());
  }

  private static void add(String name, Assignment assignment) {
    Runs runs = new Runs(Runs.MODEL, assignment, Optimizer.ADAM, Workers.THREADS, STEPS, EVERY);
    others.put(name, Deaths.of(runs, undisturbed.resolve(name)));
  }

  private static void asyncPipeline(AsyncPipeline asyncPipeline) {
    List<StageLayers> stages = List.of(StageLayers.keeping(0, 1), StageLayers.keeping(2, 4));
    int ranks = asyncPipeline.schedule(asyncPipeline.round()).ranks();
    add(
        asyncPipeline.name(),
        Assignment.of(asyncPipeline, stages, Collections.nCopies(ranks, 1), Runs.BATCH));
  }

  /** Filters of the first stage by two teams of two, channels of the second by one. */
  private static Assignment split() {
    Schedule schedule = OneForwardOneBackward.of(2, 2);
    Assignment whole = Runs.stages(schedule, List.of(1, 1), 0, 2);
    List<StageLayers> stages = new ArrayList<>();
    stages.add(whole.stages().get(0).with(Parallelism.of(Kind.FILTER, 2)));
    stages.add(whole.stages().get(1).with(Parallelism.of(Kind.CHANNEL, 2)));
    return new Assignment(schedule, stages, List.of(4, 2), Runs.BATCH, true);
  }

  @RepeatedTest(20)
  void aThreadThatDies(RepetitionInfo seed, @TempDir Path folder) {
    hybrid.ofAThread(new SplittableRandom(seed.getCurrentRepetition()), folder);
  }

  /** Processes go on once: threads, which start in no time, read the same checkpoint. */
  @RepeatedTest(4)
  void aProcessThatIsKilled(RepetitionInfo seed, @TempDir Path folder) {
    Workers next = seed.getCurrentRepetition() == 1 ? Workers.PROCESSES : Workers.THREADS;
    hybrid.ofAProcess(new SplittableRandom(100 + seed.getCurrentRepetition()), next, folder);
  }

  @RepeatedTest(5)
  void aThreadOfAnyStrategyThatDies(RepetitionInfo seed, @TempDir Path folder) {
    SplittableRandom random = new SplittableRandom(200 + seed.getCurrentRepetition());
    others.forEach((name, deaths) -> deaths.ofAThread(random, folder.resolve(name)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"PARAMETERS", "split", "cyclic-v2"})
  void aProcessOfAnotherStrategyThatIsKilled(String name, @TempDir Path folder) {
    Deaths deaths = Objects.requireNonNull(others.get(name));
    deaths.ofAProcess(new SplittableRandom(300), Workers.PROCESSES, folder);
  }
}
