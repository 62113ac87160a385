package dev.pipewright.runtime.transport;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Operations that go on while the worker computes, one after the other on a thread of their own.
 */
final class InOrder implements AutoCloseable {
  private final String name;
  private final Waiting waiting;
  private volatile int awaited = Waiting.NONE;
  private @Nullable ExecutorService thread; // from the first operation on

  /**
   * @param name of the thread
   */
  InOrder(String name, Waiting waiting) {
    this.name = name;
    this.waiting = waiting;
  }

  Pending begin(Runnable operation) {
    if (thread == null) {
      thread =
          Executors.newSingleThreadExecutor(work -> {
            Thread made = new Thread(work, name);
            made.setDaemon(true);
            return made;
          });
    }
    return new Running(CompletableFuture.runAsync(operation, thread));
  }

  /** Awaits a message of the operation that is running, which says for whom it waits. */
  void await(Delivery message) {
    awaited = message.other();
    message.await();
    awaited = Waiting.NONE;
  }

  private final class Running implements Pending {
    private final CompletableFuture<Void> operation;

    private Running(CompletableFuture<Void> operation) {
      this.operation = operation;
    }

    @Override
    public boolean done() {
      return operation.isDone();
    }

    @Override
    public void await() {
      waiting.begin(() -> awaited);
      try {
        operation.join();
      } catch (CompletionException e) {
        throw e.getCause() instanceof RuntimeException cause ? cause : e;
      } finally {
        waiting.end();
      }
    }
  }

  @Override
  public void close() {
    if (thread != null) {
      thread.shutdownNow();
    }
  }
}
