package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Sends that have not finished. Each tensor is freed as soon as it has been sent; a thread per
 * destination waits for that. The worker itself never waits for a send within a step, as the
 * receiver may itself wait for a later send of this worker.
 */
final class PendingSends implements AutoCloseable {
  private final Transport transport;
  private final Map<Integer, ExecutorService> waiting = new HashMap<>(); // by destination
  private final Deque<Future<?>> under = new ArrayDeque<>(); // way, oldest first
  private final Set<Tensor> leaving = new HashSet<>(); // guarded by itself

  PendingSends(Transport transport) {
    this.transport = transport;
  }

  /** Sends {@code tensor}, which is closed when it has left. */
  void send(Tensor tensor, int to, int tag) {
    Pending pending = transport.send(tensor, to, tag);
    if (pending.done()) {
      tensor.close();
      return;
    }
    ExecutorService thread = waiting.computeIfAbsent(to, key -> thread(to));
    synchronized (leaving) {
      leaving.add(tensor);
    }
    under.add(
        thread.submit(() -> {
          pending.await();
          synchronized (leaving) {
            leaving.remove(tensor);
            tensor.close();
          }
        }));
    while (!under.isEmpty() && under.element().isDone()) {
      finish(under.remove());
    }
  }

  /** Adds what has not left yet. */
  void count(LiveBytes live) {
    synchronized (leaving) {
      live.add(LiveBytes.Kind.MESSAGES, leaving);
    }
  }

  private static ExecutorService thread(int to) {
    return Executors.newSingleThreadExecutor(task -> {
      Thread thread = new Thread(task, "messages to worker " + to);
      thread.setDaemon(true);
      return thread;
    });
  }

  /** Waits until everything has left. */
  void flush() {
    while (!under.isEmpty()) {
      finish(under.remove());
    }
  }

  private static void finish(Future<?> departure) {
    try {
      departure.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException("a message cannot leave", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while messages leave", e);
    }
  }

  @Override
  public void close() {
    waiting.values().forEach(ExecutorService::shutdownNow);
  }
}
