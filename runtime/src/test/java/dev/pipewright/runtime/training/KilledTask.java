package dev.pipewright.runtime.training;

import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.transport.Transport;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Trains and dies at one of the places that a worker passes. The first line that it is told names
 * the worker and the number of the place; the rest is the job.
 */
public final class KilledTask implements WorkerTask {
  /** Ends a worker that is a thread. */
  static final class Death extends RuntimeException {
    private static final long serialVersionUID = 1;

    Death() {
      super("killed");
    }
  }

  private final Runnable end;

  /** For a process: the system ends it without a chance to say anything. */
  public KilledTask() {
    this(KilledTask::killThisProcess);
  }

  KilledTask(Runnable end) {
    this.end = end;
  }

  static String communication(int worker, int place, String job) {
    return worker + " " + place + "\n" + job;
  }

  @Override
  public void run(String communication, Transport transport, Reporter reporter) {
    String[] lines = communication.split("\n", 2);
    String[] words = lines[0].split(" ", 2);
    boolean mine = Integer.parseInt(words[0]) == transport.worker();
    AtomicInteger left = new AtomicInteger(mine ? Integer.parseInt(words[1]) : Integer.MAX_VALUE);
    new TrainerTask(log ->
        (step, position, what, stage, microBatch) -> {
          log.at(step, position, what, stage, microBatch);
          if (left.getAndDecrement() == 0) {
            end.run();
          }
        })
        .run(lines[1], transport, reporter);
  }

  private static void killThisProcess() {
    try {
      String self = Long.toString(ProcessHandle.current().pid());
      new ProcessBuilder("kill", "-9", self).start().waitFor();
      Thread.sleep(Long.MAX_VALUE);
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
