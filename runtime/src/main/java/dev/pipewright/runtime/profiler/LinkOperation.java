package dev.pipewright.runtime.profiler;

import dev.pipewright.profile.CollectiveTiming.Kind;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import java.util.List;
import java.util.Locale;

/** What workers do with each other. */
enum LinkOperation {
  /**
   * A message from worker 0 to worker 1: from when the one begins to send until the other has it.
   * The one computes on meanwhile, and the other has asked for it before, as in a pipeline.
   */
  MESSAGE(Kind.POINT_TO_POINT) {
    @Override
    long[] times(Transport transport, Group all, Tensor whole, Tensor part, CoRunningWork work) {
      Pending pending = transport.worker() == 1 ? transport.receive(whole, 0, TAG) : NOTHING;
      if (transport.worker() == 0) {
        work.whole();
      } else {
        work.half();
      }
      long begin = System.nanoTime();
      if (transport.worker() == 0) {
        pending = transport.send(whole, 1, TAG);
        work.whole();
      }
      pending.await();
      return new long[] {begin, System.nanoTime()};
    }

    @Override
    double seconds(List<long[]> times) {
      return (times.get(1)[1] - times.get(0)[0]) / 1e9;
    }

    @Override
    Pending begin(Group all, Tensor whole, Tensor part) {
      throw new IllegalStateException("a message is no operation of all");
    }
  },
  SUM(Kind.ALL_REDUCE) {
    @Override
    Pending begin(Group all, Tensor whole, Tensor part) {
      return all.sum(whole);
    }
  },
  /** Not cut into steps that we know: its constants are those of the whole. */
  BROADCAST(Kind.POINT_TO_POINT) {
    @Override
    Pending begin(Group all, Tensor whole, Tensor part) {
      return all.broadcast(whole, 0);
    }
  },
  GATHER(Kind.ALL_GATHER) {
    @Override
    Pending begin(Group all, Tensor whole, Tensor part) {
      return all.gather(part, whole);
    }
  },
  SUM_PARTS(Kind.REDUCE_SCATTER) {
    @Override
    Pending begin(Group all, Tensor whole, Tensor part) {
      return all.sumParts(whole, part);
    }
  };

  private static final int TAG = 7;
  private static final Pending NOTHING =
      new Pending() {
        @Override
        public boolean done() {
          return true;
        }

        @Override
        public void await() {
          // it is neither of the two
        }
      };

  private final Kind kind;

  LinkOperation(Kind kind) {
    this.kind = kind;
  }

  /**
   * Has this worker take its part in it, after some work; when it began to, and when that ended.
   *
   * @param whole the message, the sum, or what has a part of each worker
   * @param part a worker's own
   */
  long[] times(Transport transport, Group all, Tensor whole, Tensor part, CoRunningWork work) {
    work.whole();
    long begin = System.nanoTime();
    begin(all, whole, part).await();
    return new long[] {begin, System.nanoTime()};
  }

  /** Begins what all do together. */
  abstract Pending begin(Group all, Tensor whole, Tensor part);

  /**
   * How long it took, where workers do not come to it at quite the same time: what it took each of
   * them, on average.
   *
   * @param times by worker
   */
  double seconds(List<long[]> times) {
    return times.stream().mapToLong(own -> own[1] - own[0]).average().orElseThrow() / 1e9;
  }

  /** The kind of collective that its times are fitted as. */
  Kind kind() {
    return kind;
  }

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
