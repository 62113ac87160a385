package dev.pipewright.runtime.profiler;

import dev.pipewright.profile.CollectiveTiming.Kind;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import java.util.Locale;

/** What workers do with each other. */
enum LinkOperation {
  /** From worker 0 to worker 1. */
  MESSAGE(Kind.POINT_TO_POINT) {
    @Override
    Pending begin(Transport transport, Group all, Tensor whole, Tensor part) {
      return switch (transport.worker()) {
        case 0 -> transport.send(whole, 1, TAG);
        case 1 -> transport.receive(whole, 0, TAG);
        default -> NOTHING;
      };
    }
  },
  SUM(Kind.ALL_REDUCE) {
    @Override
    Pending begin(Transport transport, Group all, Tensor whole, Tensor part) {
      return all.sum(whole);
    }
  },
  /** Not cut into steps that we know: its constants are those of the whole. */
  BROADCAST(Kind.POINT_TO_POINT) {
    @Override
    Pending begin(Transport transport, Group all, Tensor whole, Tensor part) {
      return all.broadcast(whole, 0);
    }
  },
  GATHER(Kind.ALL_GATHER) {
    @Override
    Pending begin(Transport transport, Group all, Tensor whole, Tensor part) {
      return all.gather(part, whole);
    }
  },
  SUM_PARTS(Kind.REDUCE_SCATTER) {
    @Override
    Pending begin(Transport transport, Group all, Tensor whole, Tensor part) {
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
          // it is nobody of the two
        }
      };

  private final Kind kind;

  LinkOperation(Kind kind) {
    this.kind = kind;
  }

  /**
   * Begins it.
   *
   * @param whole the message, the sum, or what has a part of each worker
   * @param part a worker's own
   */
  abstract Pending begin(Transport transport, Group all, Tensor whole, Tensor part);

  /** As what its times are fitted. */
  Kind kind() {
    return kind;
  }

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
