package dev.pipewright.runtime.profiler;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import java.util.stream.IntStream;

/**
 * Workers that run the same computation while the first one measures: processors that share caches
 * and memory slow each other down in training, and so they must in a measurement.
 */
final class CoRunningLoad {
  private final boolean measures;
  private final int size;
  private final Group all;

  CoRunningLoad(Transport transport) {
    this.measures = transport.worker() == 0;
    this.size = transport.workers();
    this.all = transport.group("company", IntStream.range(0, transport.workers()).boxed().toList());
  }

  /** All workers. */
  int size() {
    return size;
  }

  /** Whether this worker is the one that measures. */
  boolean measures() {
    return measures;
  }

  /** Returns when all workers have come so far. */
  void meet() {
    try (Scope scope = new Scope()) {
      all.sum(Tensor.ones(1)).await();
    }
  }

  /** The one that measures has done so. */
  void dismiss() {
    meet();
  }

  /** What another does, again and again, until then. */
  void keep(Runnable round) {
    try (Scope scope = new Scope()) {
      Pending end = all.sum(Tensor.ones(1));
      while (!end.done()) {
        round.run();
      }
      end.await();
    }
  }
}
