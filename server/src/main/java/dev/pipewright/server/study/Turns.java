package dev.pipewright.server.study;

import dev.pipewright.formats.file.BadInputException;
import java.lang.System.Logger;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Work of which one piece is done at a time: the others wait, and none longer than its user's
 * patience. What takes too long goes on, and those who wait with it.
 */
public final class Turns {
  private static final Logger LOG = System.getLogger(Turns.class.getName());
  private static final int MOST_SECONDS = 30;

  private final Semaphore free = new Semaphore(1, true);

  /** Does the work; throws {@link BadInputException} where it does or where it takes too long. */
  public <T> T take(Callable<T> work) throws InterruptedException {
    if (!free.tryAcquire(MOST_SECONDS, TimeUnit.SECONDS)) {
      throw new BadInputException("others wait before you; ask anew in a minute");
    }
    CompletableFuture<T> answer = new CompletableFuture<>();
    Thread worker =
        new Thread(
            () -> {
              try {
                answer.complete(work.call());
              } catch (Exception | OutOfMemoryError | StackOverflowError e) {
                answer.completeExceptionally(e);
              } finally {
                free.release();
              }
            },
            "turn");
    worker.setDaemon(true);
    worker.start();
    try {
      return answer.get(MOST_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new BadInputException(
          "it takes more than %d s; use the command line, which has no limit"
              .formatted(MOST_SECONDS));
    } catch (ExecutionException e) {
      if (e.getCause() instanceof BadInputException refused) {
        throw refused;
      }
      LOG.log(Logger.Level.ERROR, "a command failed", e.getCause());
      throw new BadInputException("it could not be answered; the server's log says why");
    }
  }
}
