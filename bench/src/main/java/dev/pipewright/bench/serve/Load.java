package dev.pipewright.bench.serve;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;

/** Requests to a site. */
final class Load {
  private static final int STUDY_EVERY = 10; // seconds
  private static final int READING = 100; // milliseconds that a user looks at a page

  private Load() {}

  /**
   * An open loop: requests are due at fixed times, whether or not earlier ones are answered, and a
   * response's time counts from then. Every ten seconds one of them asks a new study.
   *
   * @param rate requests a second
   */
  static List<Reply> open(LoadedSite site, int rate, int seconds) throws InterruptedException {
    List<RequestKind> deck = RequestKind.deck();
    List<CompletableFuture<Reply>> replies = new ArrayList<>();
    long begin = System.nanoTime();
    for (int i = 0; i < rate * seconds; i++) {
      long due = begin + Math.round(1e9 * i / rate);
      for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      boolean asks = i % (STUDY_EVERY * rate) == rate / 2;
      replies.add(send(site, asks ? RequestKind.STUDY : deck.get(i % deck.size()), i, due));
    }
    return all(replies);
  }

  /**
   * Users at once, of whom each asks a new study and then looks at one page after the other, for a
   * tenth of a second each.
   */
  static List<Reply> users(LoadedSite site, int users, int seconds) throws InterruptedException {
    List<CompletableFuture<List<Reply>>> visits = new ArrayList<>();
    for (int user = 0; user < users; user++) {
      int number = user;
      CompletableFuture<List<Reply>> visit = new CompletableFuture<>();
      visits.add(visit);
      Thread.ofPlatform()
          .daemon()
          .name("user-" + user)
          .start(() -> {
            try {
              visit.complete(visit(site, number, seconds));
            } catch (InterruptedException | RuntimeException e) {
              visit.completeExceptionally(e);
            }
          });
    }
    return all(visits).stream().flatMap(List::stream).toList();
  }

  private static List<Reply> visit(LoadedSite site, int user, int seconds)
      throws InterruptedException {
    List<RequestKind> deck = RequestKind.deck();
    List<Reply> replies = new ArrayList<>();
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    int first = 1_000 * (user + 1); // so that users ask for different things
    replies.add(all(List.of(send(site, RequestKind.STUDY, first, System.nanoTime()))).getFirst());
    for (int i = first; System.nanoTime() < end; i++) {
      Thread.sleep(READING);
      RequestKind kind = deck.get((i + 7 * user) % deck.size());
      replies.add(all(List.of(send(site, kind, i, System.nanoTime()))).getFirst());
    }
    return replies;
  }

  private static CompletableFuture<Reply> send(
      LoadedSite site, RequestKind kind, int turn, long due) {
    return site.send(kind.maker().make(site, turn))
        .handle((response, failure) -> Reply.of(kind, due, response, failure));
  }

  private static <T> List<T> all(List<CompletableFuture<T>> futures) throws InterruptedException {
    List<T> values = new ArrayList<>();
    for (CompletableFuture<T> each : futures) {
      try {
        values.add(each.get());
      } catch (ExecutionException e) {
        throw new IllegalStateException(e.getCause());
      }
    }
    return values;
  }
}
