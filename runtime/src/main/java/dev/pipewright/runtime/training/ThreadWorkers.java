package dev.pipewright.runtime.training;

import dev.pipewright.runtime.launch.Coordinator;
import dev.pipewright.runtime.launch.FlightRecorder;
import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.runtime.transport.LocalTransport;
import dev.pipewright.runtime.transport.LostPeerException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Workers that are threads of this process. */
final class ThreadWorkers {
  private final int count;

  ThreadWorkers(int count) {
    this.count = count;
  }

  /** Runs the job on all of them. Throws what the first to fail threw. */
  void run(String job, int threads, Coordinator.Listener listener) {
    Torch.start(threads);
    try (ExecutorService workers = Executors.newFixedThreadPool(count)) {
      List<Future<?>> running = new ArrayList<>();
      for (LocalTransport transport : LocalTransport.of(count)) {
        running.add(workers.submit(() -> work(job, transport, listener)));
      }
      await(running);
    }
  }

  private static void work(String job, LocalTransport transport, Coordinator.Listener listener) {
    try {
      new TrainerTask().run(job, transport, reporter(transport.worker(), listener));
    } catch (RuntimeException | Error e) {
      transport.fail(e);
      throw e;
    }
  }

  private static Reporter reporter(int worker, Coordinator.Listener listener) {
    try {
      FlightRecorder recorder =
          FlightRecorder.create(Files.createTempFile("pipewright-worker", ".flight"));
      return new Reporter() {
        @Override
        public void event(String text) {
          synchronized (listener) {
            listener.event(worker, text);
          }
        }

        @Override
        public FlightRecorder recorder() {
          return recorder;
        }
      };
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void await(List<Future<?>> running) {
    RuntimeException consequence = null;
    for (Future<?> worker : running) {
      try {
        worker.get();
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof RuntimeException failure)) {
          throw new IllegalStateException("a worker failed", e.getCause());
        }
        if (!(failure instanceof LostPeerException)) {
          throw failure;
        }
        consequence = failure;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("training was interrupted", e);
      }
    }
    if (consequence != null) {
      throw consequence;
    }
  }
}
