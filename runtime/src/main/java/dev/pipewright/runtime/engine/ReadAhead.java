package dev.pipewright.runtime.engine;

import dev.pipewright.plan.SampleRange;
import dev.pipewright.runtime.data.HostValues;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Samples read while others are computed with: what is asked for in a step will be asked for in the
 * next one, so another thread reads that meanwhile. It is one step ahead and no more.
 */
public final class ReadAhead implements Feed, AutoCloseable {
  private final Feed feed;
  private final Map<Question, CompletableFuture<List<HostValues>>> ahead = new HashMap<>();
  private final ExecutorService reader = Executors.newSingleThreadExecutor(ReadAhead::named);

  private record Question(boolean target, long step, SampleRange samples) {
    private Question ofNextStep() {
      return new Question(target, step + 1, samples);
    }
  }

  /**
   * @param feed which any thread may read
   */
  public ReadAhead(Feed feed) {
    this.feed = feed;
  }

  private static Thread named(Runnable reading) {
    Thread thread = new Thread(reading, "data reader");
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public List<HostValues> inputs(long step, SampleRange samples) {
    return answer(new Question(false, step, samples));
  }

  @Override
  public HostValues target(long step, SampleRange samples) {
    return answer(new Question(true, step, samples)).get(0);
  }

  private List<HostValues> answer(Question question) {
    CompletableFuture<List<HostValues>> begun = ahead.remove(question);
    List<HostValues> answer = begun == null ? read(question) : end(begun);
    Question next = question.ofNextStep();
    ahead.put(next, CompletableFuture.supplyAsync(() -> read(next), reader));
    return answer;
  }

  private List<HostValues> read(Question question) {
    return question.target()
        ? List.of(feed.target(question.step(), question.samples()))
        : feed.inputs(question.step(), question.samples());
  }

  /** Throws what reading threw. */
  private static List<HostValues> end(CompletableFuture<List<HostValues>> begun) {
    try {
      return begun.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException problem ? problem : e;
    }
  }

  @Override
  public void close() {
    reader.shutdownNow();
  }
}
