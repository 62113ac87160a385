package dev.pipewright.server.study;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A study that waits, runs or has ended. Safe for threads. */
public final class StudyJob {
  /** Where it is. */
  public enum State {
    WAITING,
    RUNNING,
    DONE,
    REFUSED,
    FAILED
  }

  /**
   * What to show of it.
   *
   * @param seconds that it has run
   * @param sentence of a refusal or failure
   */
  public record Status(State state, long seconds, String sentence) {
    public boolean ended() {
      return state != State.WAITING && state != State.RUNNING;
    }
  }

  private final String id;
  private final StudyRequest request;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private State state = State.WAITING;
  private String sentence = "";
  private long begin; // of System.nanoTime
  private volatile boolean cancelled;

  StudyJob(String id, StudyRequest request) {
    this.id = id;
    this.request = request;
  }

  public String id() {
    return id;
  }

  public List<String> command() {
    return request.command();
  }

  StudyRequest request() {
    return request;
  }

  public Status status() {
    lock.lock();
    try {
      long seconds =
          state == State.WAITING ? 0 : TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin);
      return new Status(state, seconds, sentence);
    } finally {
      lock.unlock();
    }
  }

  /** Waits for its end, but not longer than so long. */
  public Status await(long milliseconds) throws InterruptedException {
    lock.lock();
    try {
      long left = TimeUnit.MILLISECONDS.toNanos(milliseconds);
      while (left > 0 && (state == State.WAITING || state == State.RUNNING)) {
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
    return status();
  }

  /** Whether it may begin: it has not ended while it waited. */
  boolean begin() {
    lock.lock();
    try {
      if (state != State.WAITING) {
        return false;
      }
      state = State.RUNNING;
      begin = System.nanoTime();
      changed.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  boolean cancelled() {
    return cancelled;
  }

  void end(State with, String why) {
    lock.lock();
    try {
      state = with;
      sentence = why;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the search with the best plan so far, as Ctrl-C does. */
  void cancel() {
    lock.lock();
    try {
      cancelled = true;
      if (state == State.WAITING) {
        state = State.REFUSED;
        sentence = "cancelled before it began; ask anew";
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }
}
