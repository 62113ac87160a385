package dev.pipewright.runtime.data;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongFunction;

/**
 * What each step needs, read while the step before computes: one step ahead and no more.
 *
 * @param <T> what is read: without memory of the library's, as another thread reads it
 */
public final class ReadAhead<T> implements AutoCloseable {
  private final LongFunction<T> read;
  private final ExecutorService reader;
  private long step;
  private Future<T> next;

  /**
   * @param read what a step needs
   */
  public ReadAhead(long firstStep, LongFunction<T> read) {
    this.read = read;
    this.step = firstStep;
    this.reader = Executors.newSingleThreadExecutor(ReadAhead::named);
    this.next = submitted(firstStep);
  }

  private static Thread named(Runnable reading) {
    Thread thread = new Thread(reading, "data reader");
    thread.setDaemon(true);
    return thread;
  }

  private Future<T> submitted(long wanted) {
    return CompletableFuture.supplyAsync(() -> read.apply(wanted), reader);
  }

  /** What the next step needs; reading for the one behind it begins. Throws what reading threw. */
  public T next() {
    try {
      T ready = next.get();
      next = submitted(++step);
      return ready;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException problem) {
        throw problem;
      }
      throw new IllegalStateException("samples cannot be read: step=" + step, e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while reading samples: step=" + step, e);
    }
  }

  @Override
  public void close() {
    reader.shutdownNow();
  }
}
