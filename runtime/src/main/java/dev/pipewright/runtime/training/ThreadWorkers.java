package dev.pipewright.runtime.training;

import dev.pipewright.execution.TrainingFailureException;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.launch.Coordinator;
import dev.pipewright.runtime.launch.FlightRecorder;
import dev.pipewright.runtime.launch.LastStep;
import dev.pipewright.runtime.launch.Place;
import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.TemporaryFolder;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.runtime.transport.LocalTransport;
import dev.pipewright.runtime.transport.LostPeerException;
import java.net.ProtocolException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Workers that are threads of this process. */
final class ThreadWorkers {
  private static final long TICK_MILLISECONDS = 50;

  private final int count;
  private final Supplier<WorkerTask> task;
  private final Coordinator.Listener listener; // guarded by itself
  private final List<LastStep> lastSteps = new ArrayList<>();
  private final CompletableFuture<String> failed =
      new CompletableFuture<>(); // never completes well
  private boolean held;

  ThreadWorkers(int count, Supplier<WorkerTask> task, Coordinator.Listener listener) {
    this.count = count;
    this.task = task;
    this.listener = listener;
  }

  /** Runs the job on all of them. Throws what the first to fail threw. */
  void run(String job, int threads) {
    Torch.start(threads);
    try (TemporaryFolder temporary = TemporaryFolder.create();
        ExecutorService workers = Executors.newFixedThreadPool(count)) {
      List<Future<?>> running = new ArrayList<>();
      for (LocalTransport transport : LocalTransport.of(count)) {
        LastStep last = new LastStep();
        lastSteps.add(last);
        running.add(workers.submit(() -> work(job, transport, last, temporary.path())));
      }
      await(running);
    }
  }

  private void work(String job, LocalTransport transport, LastStep last, Path temporary) {
    Path places = temporary.resolve("worker-" + transport.worker());
    try {
      task.get().run(job, transport, new ThreadReporter(transport.worker(), last, places));
    } catch (Exception | Error e) {
      failed.completeExceptionally(new LostPeerException("another worker has stopped", e));
      transport.fail(e);
      throw e instanceof BadInputException || e instanceof LostPeerException
          ? (RuntimeException) e
          : named(e, transport.worker(), FlightRecorder.last(places));
    }
  }

  private static TrainingFailureException named(Throwable e, int worker, Optional<Place> place) {
    String at = place.map(known -> " (" + known + ")").orElse("");
    return new TrainingFailureException(
        "worker %d%s failed: %s; all others have been stopped".formatted(worker, at, e), e);
  }

  private final class ThreadReporter implements Reporter {
    private final int worker;
    private final LastStep last;
    private final FlightRecorder recorder;

    ThreadReporter(int worker, LastStep last, Path places) {
      this.worker = worker;
      this.last = last;
      this.recorder = FlightRecorder.create(places);
    }

    @Override
    public void event(String text) {
      synchronized (listener) {
        try {
          listener.event(worker, text);
        } catch (ProtocolException e) {
          throw new IllegalStateException(e); // this very process has written it
        }
      }
    }

    @Override
    public String ask(String question) {
      CompletableFuture<String> answer = new CompletableFuture<>();
      synchronized (listener) {
        try {
          listener.question(worker, question, answer::complete);
        } catch (ProtocolException e) {
          throw new IllegalStateException(e); // this very process has written it
        }
      }
      try {
        return (String) CompletableFuture.anyOf(answer, failed).join();
      } catch (CompletionException e) {
        throw new LostPeerException("another worker has stopped", e);
      }
    }

    @Override
    public LastStep lastStep() {
      return last;
    }

    @Override
    public FlightRecorder recorder() {
      return recorder;
    }
  }

  private void endEarly() {
    if (!held && listener.stopping()) {
      held = true;
      long last = lastSteps.stream().mapToLong(LastStep::hold).max().orElseThrow();
      lastSteps.forEach(each -> each.is(last));
    }
  }

  private void await(List<Future<?>> running) {
    RuntimeException consequence = null;
    for (Future<?> worker : running) {
      try {
        await(worker);
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

  private void await(Future<?> worker) throws ExecutionException, InterruptedException {
    while (true) {
      try {
        worker.get(TICK_MILLISECONDS, TimeUnit.MILLISECONDS);
        return;
      } catch (TimeoutException e) {
        endEarly();
      }
    }
  }
}
