package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.TrainingFailureException;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.checkpoint.Checkpoint;
import dev.pipewright.runtime.checkpoint.Checkpoints;
import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.transport.Transport;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Whatever a worker is doing when it dies, the others stop and one sentence names it, its stage and
 * its op; and the run goes on from its last checkpoint to the same bits as one that nothing
 * happened to.
 */
final class Deaths {
  private static final Pattern MESSAGE =
      Pattern.compile(
          "worker (\\d+) \\(stage (\\d+), (forward|backward|update|handing on|checkpoint)"
              + "( of micro-batch \\d+)? in step (\\d+)\\) .*; all others have been stopped");

  private final Runs runs;
  private final Path undisturbed;
  private final AtomicIntegerArray places; // that each worker passes in the whole run

  private Deaths(Runs runs, Path undisturbed) {
    this.runs = runs;
    this.undisturbed = undisturbed;
    this.places = new AtomicIntegerArray(runs.assignment().size());
  }

  /**
   * Of workers of such runs.
   *
   * @param undisturbed the folder of one that nothing happens to
   */
  static Deaths of(Runs runs, Path undisturbed) {
    Deaths deaths = new Deaths(runs, undisturbed);
    new Trainer(KilledTask.class, () -> deaths::count, job -> job)
        .train(runs.by(Workers.THREADS).request(undisturbed, Optional.empty()), step -> {});
    return deaths;
  }

  private void count(String job, Transport transport, Reporter reporter) {
    new TrainerTask(log ->
        (step, position, what, stage, microBatch) -> {
          log.at(step, position, what, stage, microBatch);
          places.incrementAndGet(transport.worker());
        })
        .run(job, transport, reporter);
  }

  /** That of a thread, which takes a fraction of a second. */
  void ofAThread(SplittableRandom random, Path folder) {
    Runnable death =
        () -> {
          throw new KilledTask.Death();
        };
    of(random, Workers.THREADS, () -> new KilledTask(death), Workers.THREADS, folder);
  }

  /**
   * That of a process, which the system kills.
   *
   * @param next the workers that go on
   */
  void ofAProcess(SplittableRandom random, Workers next, Path folder) {
    of(random, Workers.PROCESSES, TrainerTask::new, next, folder);
  }

  private void of(
      SplittableRandom random,
      Workers workers,
      Supplier<WorkerTask> thread,
      Workers next,
      Path folder) {
    Runs own = runs.by(workers);
    int worker = random.nextInt(places.length());
    int place = random.nextInt(places.get(worker));
    Trainer trainer =
        new Trainer(KilledTask.class, thread, job -> KilledTask.communication(worker, place, job));
    TrainingFailureException failure =
        assertThrows(
            TrainingFailureException.class,
            () -> trainer.train(own.request(folder, Optional.empty()), step -> {}));
    tellsWhere(worker, String.valueOf(failure.getMessage()));
    goesOn(runs.by(next), folder);
  }

  private void tellsWhere(int worker, String message) {
    Matcher communication = MESSAGE.matcher(message);
    assertTrue(communication.matches(), message);
    assertEquals(worker, Integer.parseInt(communication.group(1)), message);
    Assignment assignment = runs.assignment();
    int depth = Integer.parseInt(communication.group(2)) % assignment.stages().size();
    assertTrue(assignment.holders(depth).contains(worker), message);
    assertTrue(Integer.parseInt(communication.group(5)) < runs.steps(), message);
  }

  private void goesOn(Runs own, Path folder) {
    Checkpoints checkpoints = new Checkpoints(folder.resolve(Trainer.CHECKPOINTS), 2);
    checkpoints.all().forEach(path -> Checkpoint.open(path).verify());
    Path ended = checkpoints.latest().isPresent() ? folder : folder.resolve("again");
    if (made(checkpoints) < runs.steps()) { // who dies may have given the others all they need
      Optional<Path> from = checkpoints.latest().map(last -> folder);
      new Trainer().train(own.request(ended, from), step -> {});
    }
    sameBits(Runs.state(undisturbed), Runs.state(ended));
    assertEquals(runs.steps(), Runs.manifest(ended).step());
    assertEquals((long) runs.steps() * Runs.BATCH, Runs.manifest(ended).samples());
  }

  private static long made(Checkpoints checkpoints) {
    return checkpoints.latest().map(path -> Checkpoint.open(path).manifest().step()).orElse(0L);
  }

  private static void sameBits(Map<String, float[]> expected, Map<String, float[]> found) {
    assertEquals(expected.keySet(), found.keySet());
    assertFalse(expected.isEmpty());
    expected.forEach((name, values) -> assertArrayEquals(values, found.get(name), name));
  }
}
