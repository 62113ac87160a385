package dev.pipewright.runtime.launch;

import dev.pipewright.runtime.transport.Transport;

/** What a worker does. A class of it has a public constructor without parameters. */
public interface WorkerTask {
  /**
   * Returns when this worker is done; its messages to others have arrived then, or are waited for
   * by them.
   *
   * @param job what to do, as the caller of {@link Coordinator} wrote it: the same for all workers
   */
  void run(String job, Transport transport, Reporter reporter) throws Exception;
}
