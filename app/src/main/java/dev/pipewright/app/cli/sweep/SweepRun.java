package dev.pipewright.app.cli.sweep;

import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.formats.sweep.SweepLog;
import dev.pipewright.formats.sweep.SweepPoint;
import dev.pipewright.formats.sweep.SweepResult;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Plans points on several threads and appends each answer as it comes. After an interrupt no
 * further point begins, and one that was being planned leaves no answer: its search had less time
 * than it needed.
 */
final class SweepRun {
  private final SweepPlanner planner;
  private final SweepLog log;
  private final Consumer<SweepResult> said;
  private final AtomicBoolean failed = new AtomicBoolean();

  /**
   * A run.
   *
   * @param said gets every answer once it is written, one at a time
   */
  SweepRun(SweepPlanner planner, SweepLog log, Consumer<SweepResult> said) {
    this.planner = planner;
    this.log = log;
    this.said = said;
  }

  /** Plans them all; says whether no interrupt ended it. */
  boolean plan(List<SweepPoint> points, int jobs) {
    ExecutorService pool = Executors.newFixedThreadPool(jobs, SweepRun::thread);
    SearchDeadline patience = new SearchDeadline(OptionalDouble.empty());
    try {
      List<Future<?>> asked =
          points.stream().<Future<?>>map(point -> pool.submit(() -> plan(point))).toList();
      for (Future<?> each : asked) {
        done(each);
      }
      return !SearchDeadline.interrupted();
    } finally {
      patience.close();
      pool.shutdownNow();
    }
  }

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "sweep");
    thread.setDaemon(true); // what an interrupt leaves behind must not keep the program alive
    return thread;
  }

  private void plan(SweepPoint point) {
    if (SearchDeadline.interrupted() || failed.get()) {
      return;
    }
    SweepResult result;
    try {
      result = planner.plan(point);
    } catch (RuntimeException | Error e) {
      failed.set(true);
      throw e;
    }
    if (!SearchDeadline.interrupted()) {
      synchronized (this) {
        log.append(result);
        said.accept(result);
      }
    }
  }

  private static void done(Future<?> point) {
    try {
      point.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while points are planned", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      if (e.getCause() instanceof Error failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    }
  }
}
