package dev.pipewright.server.study;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.server.store.StudyStore;
import java.lang.System.Logger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import org.jspecify.annotations.Nullable;

/**
 * Answers studies, so many at a time as the machine has processors to spare; the others wait in
 * order. However many searches there are and however they divide their work, together they take no
 * more processors than that, so that pages are answered meanwhile. Ended studies are in the store;
 * of those that failed the last are remembered. Safe for threads.
 */
public final class StudyQueue implements AutoCloseable {
  private static final Logger LOG = System.getLogger(StudyQueue.class.getName());
  private static final int MOST_WAITING = 64;
  private static final int MOST_ENDED = 200;
  private static final int PATIENCE = 5_000; // milliseconds for searches to end

  private final StudyStore store;
  private final String version = StudyRunner.version();
  private final Deque<StudyJob> waiting = new ArrayDeque<>();
  private final Map<String, StudyJob> open = new LinkedHashMap<>();
  private final Map<String, StudyJob> ended =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, StudyJob> eldest) {
          return size() > MOST_ENDED;
        }
      };
  private final List<Thread> searchers = new ArrayList<>();
  private final ForkJoinPool processors; // of all searches: what they do in parallel stays in it
  private boolean closed;

  /** Starts to answer; {@code searches} is how many at a time. */
  public StudyQueue(StudyStore store, int searches) {
    this.store = store;
    this.processors = new ForkJoinPool(searches);
    for (int i = 0; i < searches; i++) {
      Thread searcher = new Thread(this::search, "study-" + i);
      searcher.setDaemon(true);
      searchers.add(searcher);
      searcher.start();
    }
  }

  public String version() {
    return version;
  }

  /**
   * The id of a study, which is in the store, already open, or waits from now on.
   *
   * @throws BadInputException where too many wait
   */
  public String ask(StudyRequest request) {
    String id = request.id(version);
    if (store.find(id).filter(study -> !study.ended()).isPresent()) {
      return id;
    }
    synchronized (this) {
      if (!open.containsKey(id)) {
        if (waiting.size() >= MOST_WAITING || closed) {
          throw new BadInputException(
              "%d studies wait already; ask again in a minute".formatted(waiting.size()));
        }
        StudyJob job = new StudyJob(id, request);
        ended.remove(id);
        open.put(id, job);
        waiting.add(job);
        notifyAll();
      }
    }
    return id;
  }

  /** A study that has not ended, or failed not long ago. */
  public synchronized Optional<StudyJob> job(String id) {
    @Nullable StudyJob job = open.get(id);
    return Optional.ofNullable(job != null ? job : ended.get(id));
  }

  /** The file that a study plans for; empty where its network has a name. */
  public Optional<UploadedNetwork> network(String id) {
    return job(id)
        .map(found -> found.request().network())
        .orElseGet(() -> UploadedNetwork.kept(store, id));
  }

  /** How many begin before this one. */
  public synchronized int before(StudyJob job) {
    int before = 0;
    for (StudyJob other : waiting) {
      if (other == job) {
        return before;
      }
      before++;
    }
    return 0;
  }

  /** Ends the search of a study with the best so far, or takes it out of the queue. */
  public void cancel(String id) {
    Optional<StudyJob> job = job(id);
    job.ifPresent(StudyJob::cancel);
    synchronized (this) {
      if (job.isPresent() && waiting.remove(job.get())) {
        open.remove(id);
        ended.put(id, job.get());
      }
    }
  }

  private void search() {
    StudyRunner runner = new StudyRunner();
    for (Optional<StudyJob> next = next(); next.isPresent(); next = next()) {
      StudyJob job = next.get();
      if (job.begin()) {
        answer(runner, job);
      }
    }
  }

  private synchronized Optional<StudyJob> next() {
    while (!closed && waiting.isEmpty()) {
      try {
        wait();
      } catch (InterruptedException e) {
        return Optional.empty(); // only the end of the program does that
      }
    }
    return closed ? Optional.empty() : Optional.of(waiting.remove());
  }

  private void answer(StudyRunner runner, StudyJob job) {
    StudyJob.State state = StudyJob.State.FAILED;
    String sentence = "";
    try {
      StudyRunner.Result result =
          processors
              .submit(() -> runner.run(job.id(), job.request(), version, job::cancelled))
              .get();
      switch (result) {
        case StudyRunner.Result.Answered answered -> {
          store.save(answered.study(), answered.files());
          state = StudyJob.State.DONE;
        }
        case StudyRunner.Result.Refused refused -> {
          state = StudyJob.State.REFUSED;
          sentence = refused.sentence();
        }
        case StudyRunner.Result.Failed failed -> sentence = failed.sentence();
      }
    } catch (InterruptedException | ExecutionException | RuntimeException e) {
      LOG.log(Logger.Level.ERROR, "study " + job.id() + " failed", e);
      sentence = "the study could not be answered or kept; the server's log says why";
    }
    synchronized (this) {
      open.remove(job.id());
      if (state != StudyJob.State.DONE) {
        ended.put(job.id(), job);
      }
    }
    job.end(state, sentence);
  }

  /** Ends all searches. */
  @Override
  public void close() {
    List<StudyJob> jobs;
    synchronized (this) {
      closed = true;
      waiting.clear();
      jobs = List.copyOf(open.values());
      notifyAll();
    }
    jobs.forEach(StudyJob::cancel);
    for (Thread searcher : searchers) {
      try {
        searcher.join(PATIENCE);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
    processors.shutdown();
  }
}
