package dev.pipewright.runtime.training;

import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.transport.Transport;
import java.io.IOException;

/** Trains and is stopped, not ended, at one of the places that a worker passes. */
public final class StoppedTask implements WorkerTask {
  @Override
  public void run(String communication, Transport transport, Reporter reporter) {
    new KilledTask(StoppedTask::stopThisProcess).run(communication, transport, reporter);
  }

  private static void stopThisProcess() {
    try {
      String self = Long.toString(ProcessHandle.current().pid());
      new ProcessBuilder("kill", "-STOP", self).start().waitFor();
      Thread.sleep(Long.MAX_VALUE); // the signal may arrive later than `kill` ends
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
