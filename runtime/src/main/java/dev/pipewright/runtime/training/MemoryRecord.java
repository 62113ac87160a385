package dev.pipewright.runtime.training;

import dev.pipewright.runtime.engine.LiveBytes;
import dev.pipewright.runtime.engine.LiveBytes.Kind;
import dev.pipewright.runtime.engine.OpListener;
import dev.pipewright.runtime.engine.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a worker's tensors take up over one step: before each op, and at the end. To ask takes time,
 * which is left out.
 */
final class MemoryRecord {
  private static final long NONE = -1;

  private final long step;
  private final List<Sample> samples = new ArrayList<>();
  private @Nullable Worker worker;
  private long asking; // nanoseconds so far

  /**
   * What there is at a time.
   *
   * @param nanoseconds since some moment
   */
  record Sample(long nanoseconds, long[] bytes) {
    long all() {
      long all = 0;
      for (long each : bytes) {
        all += each;
      }
      return all;
    }
  }

  private MemoryRecord(long step) {
    this.step = step;
  }

  /**
   * A step at the end of a run's first half, whose duration does not count; by then what flows has
   * filled all stages.
   */
  static MemoryRecord of(Job job) {
    RunSchedule runSchedule = job.runSchedule();
    long half = (runSchedule.end() - runSchedule.first()) / 2;
    boolean recorded = job.recordsMemory() && job.emulation().isEmpty();
    return new MemoryRecord(recorded ? runSchedule.first() + Math.max(0, half - 1) : NONE);
  }

  /** Listens to a worker, too. */
  OpListener beside(OpListener other) {
    return (current, position, op) -> {
      other.before(current, position, op);
      sample(current);
    };
  }

  /** Who is asked. */
  void of(Worker trainingWorker) {
    worker = trainingWorker;
  }

  /** A step is over; what was recorded if it was the one. */
  Optional<String> over(long current) {
    sample(current);
    return current == step ? Optional.of(Reports.memory(step, samples)) : Optional.empty();
  }

  private void sample(long current) {
    if (current != step || worker == null) {
      return;
    }
    long now = System.nanoTime();
    LiveBytes live = worker.live();
    long[] bytes = new long[Kind.values().length];
    for (Kind kind : Kind.values()) {
      bytes[index(kind)] = live.of(kind);
    }
    samples.add(new Sample(now - asking, bytes));
    asking += System.nanoTime() - now;
  }

  private static int index(Kind kind) {
    return List.of(Kind.values()).indexOf(kind);
  }
}
