package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.TrainingFailureException;
import dev.pipewright.execution.TrainingInterruptedException;
import dev.pipewright.execution.TrainingRequest.Computing;
import dev.pipewright.execution.TrainingRequest.Device;
import dev.pipewright.runtime.launch.Coordinator;
import dev.pipewright.runtime.launch.InterruptedRunException;
import dev.pipewright.runtime.launch.Launch;
import dev.pipewright.runtime.launch.WorkerFailureException;
import dev.pipewright.runtime.launch.WorkerTask;
import java.util.Optional;

/** Worker processes that measure something and exit. */
final class WorkerGroups {
  private final int threads;

  WorkerGroups(int threads) {
    this.threads = threads;
  }

  /** Runs a task on so many workers. */
  void run(
      int workers, Class<? extends WorkerTask> task, String job, Coordinator.Listener listener) {
    run(workers, task, job, false, listener);
  }

  /** Runs a task on workers that return freed memory at once. */
  void runFrugal(
      int workers, Class<? extends WorkerTask> task, String job, Coordinator.Listener listener) {
    run(workers, task, job, true, listener);
  }

  private void run(
      int workers,
      Class<? extends WorkerTask> task,
      String job,
      boolean frugal,
      Coordinator.Listener listener) {
    Launch launch =
        Launch.of(workers, task.getName(), job, Optional.empty())
            .with(
                new Launch.Resources(
                    Launch.Resources.USUAL.heapMegabytes(),
                    new Computing(Device.CPU, threads, frugal),
                    true));
    try (Coordinator coordinator = new Coordinator(launch)) {
      coordinator.run(listener);
    } catch (WorkerFailureException e) {
      throw new TrainingFailureException(String.valueOf(e.getMessage()), e);
    } catch (InterruptedRunException e) {
      throw new TrainingInterruptedException("interrupted while it measured; nothing is kept", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TrainingFailureException("measuring was interrupted", e);
    }
  }
}
