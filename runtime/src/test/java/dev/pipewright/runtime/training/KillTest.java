package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.TrainingFailureException;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.runtime.checkpoint.Checkpoint;
import dev.pipewright.runtime.checkpoint.Checkpoints;
import dev.pipewright.runtime.launch.WorkerTask;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever a worker is doing when it dies, the others stop and one sentence names it, its stage and
 * its op; and the run goes on from its last checkpoint to the same bits as one that nothing
 * happened to.
 *
 * <p>Most deaths are those of threads, which take a fraction of a second; some are those of
 * processes that the system kills.
 */
@Timeout(120)
class KillTest {
  private static final int STEPS = 7;
  private static final int EVERY = 2;
  private static final int PLACES = 35; // that each worker passes at least in the whole run

  @TempDir private static Path undisturbed;

  @BeforeAll
  static void runUndisturbed() {
    Runs.hybrid(Workers.THREADS, STEPS, EVERY).run(undisturbed);
  }

  private static int stage(int worker) {
    return worker < 2 ? 0 : 1;
  }

  private static void diesAndGoesOn(
      SplittableRandom random, Workers workers, Supplier<WorkerTask> thread, Path folder) {
    Runs runs = Runs.hybrid(workers, STEPS, EVERY);
    int worker = random.nextInt(3);
    int place = random.nextInt(PLACES);
    Trainer trainer =
        new Trainer(KilledTask.class, thread, job -> KilledTask.told(worker, place, job));
    TrainingFailureException failure =
        assertThrows(
            TrainingFailureException.class,
            () -> trainer.train(runs.request(folder, Optional.empty()), step -> {}));
    long end = System.currentTimeMillis();
    String message = String.valueOf(failure.getMessage());
    String named =
        ("worker %d \\(stage %d, (forward|backward|update|checkpoint)( of micro-batch [01])?"
                + " in step [0-6]\\) .*; all others have been stopped")
            .formatted(worker, stage(worker));
    assertTrue(message.matches(named), message);
    if (workers == Workers.PROCESSES) {
      long seconds = (end - KilledTask.died(folder.resolve("logs/rank-" + worker + ".log"))) / 1000;
      assertTrue(seconds < 10, "seconds until all have stopped: " + seconds);
    }
    Checkpoints checkpoints = new Checkpoints(folder.resolve(Trainer.CHECKPOINTS), 2);
    checkpoints.all().forEach(path -> Checkpoint.open(path).verify());
    Path ended = checkpoints.latest().isPresent() ? folder : folder.resolve("again");
    if (made(checkpoints) < STEPS) { // a worker may die when all others have what they need of it
      new Trainer()
          .train(runs.request(ended, checkpoints.latest().map(last -> folder)), step -> {});
    }
    sameBits(Runs.state(undisturbed), Runs.state(ended));
    assertEquals(STEPS, Runs.manifest(ended).step());
    assertEquals(STEPS * Runs.BATCH, Runs.manifest(ended).samples());
  }

  private static long made(Checkpoints checkpoints) {
    return checkpoints.latest().map(path -> Checkpoint.open(path).manifest().step()).orElse(0L);
  }

  private static void sameBits(Map<String, float[]> expected, Map<String, float[]> found) {
    assertEquals(expected.keySet(), found.keySet());
    assertFalse(expected.isEmpty());
    expected.forEach((name, values) -> assertArrayEquals(values, found.get(name), name));
  }

  @RepeatedTest(56)
  void aThreadThatDies(RepetitionInfo seed, @TempDir Path folder) {
    diesAndGoesOn(
        new SplittableRandom(seed.getCurrentRepetition()),
        Workers.THREADS,
        () -> new KilledTask(KillTest::die),
        folder);
  }

  private static void die() {
    throw new KilledTask.Death();
  }

  @RepeatedTest(4)
  void aProcessThatIsKilled(RepetitionInfo seed, @TempDir Path folder) {
    diesAndGoesOn(
        new SplittableRandom(100 + seed.getCurrentRepetition()),
        Workers.PROCESSES,
        TrainerTask::new,
        folder);
  }
}
