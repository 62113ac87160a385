package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.GradientPasses;
import dev.pipewright.plan.SumUses;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayList;
import java.util.List;

/**
 * A worker's part in handing a stage's sums on, from turn to turn and from worker to worker: no
 * collective operation, one message behind each turn. What nobody here needs any more is freed.
 */
final class Relay {
  static final int FIRST_TAG = 1 << 30; // behind all of other messages
  private static final int MOST_SUMS = 4; // in one message

  private final Assignment all;
  private final int depth;
  private final int rank;
  private final Transport transport;
  private final RelayedSums sums;
  private final PendingSends pendingSends;
  private final GradientPasses gradientPasses;
  private final List<Arriving> arriving = new ArrayList<>();
  private final SumUses uses;

  private record Arriving(int update, Tensor tensor, Pending pending) {}

  Relay(
      Assignment all, int depth, Transport transport, RelayedSums sums, PendingSends pendingSends) {
    this.all = all;
    this.depth = depth;
    this.rank = all.rankOf(transport.worker());
    this.transport = transport;
    this.sums = sums;
    this.pendingSends = pendingSends;
    this.gradientPasses = GradientPasses.of(all, depth);
    this.uses = SumUses.of(all, depth, rank, gradientPasses);
  }

  /** Asks for what a turn gets. */
  void ask(int turn) {
    if (!gradientPasses.comes(turn)) {
      return;
    }
    int from = all.firstWorker(gradientPasses.turn(turn - 1).rank());
    List<Integer> carried = gradientPasses.carried(turn);
    try (Scope scope = new Scope()) {
      for (int i = 0; i < carried.size(); i++) {
        Tensor room = scope.keep(sums.room());
        Pending pending = transport.receive(room, from, tag(turn, i));
        arriving.add(new Arriving(carried.get(i), room, pending));
      }
      if (carried.isEmpty()) { // only to say whose turn it is
        Tensor room = scope.keep(Tensor.zeros(1));
        arriving.add(new Arriving(-1, room, transport.receive(room, from, tag(turn, 0))));
      }
    }
  }

  /** Waits for all that was asked for. */
  void await() {
    for (Arriving each : arriving) {
      each.pending().await();
      if (each.update() >= 0) {
        sums.add(each.update(), each.tensor());
      }
      each.tensor().close();
    }
    arriving.clear();
  }

  /** An op of the stage has ended: hands on what the next turn needs. */
  void ended(int position) {
    gradientPasses.over(rank, position).ifPresent(turn -> gradientPass(turn + 1));
    uses.spent(position).forEach(each -> sums.forget(each.update()));
  }

  private void gradientPass(int turn) {
    if (turn == gradientPasses.size() || !gradientPasses.comes(turn)) {
      return;
    }
    int to = all.firstWorker(gradientPasses.turn(turn).rank());
    List<Integer> carried = gradientPasses.carried(turn);
    try (Scope scope = new Scope()) {
      for (int i = 0; i < carried.size(); i++) {
        send(sums.of(carried.get(i)).shared(), to, tag(turn, i));
      }
      if (carried.isEmpty()) {
        send(scope.keep(Tensor.zeros(1)), to, tag(turn, 0));
      }
    }
  }

  private void send(Tensor tensor, int to, int tag) {
    pendingSends.add(to, tensor, transport.send(tensor, to, tag));
  }

  private int tag(int turn, int item) {
    return FIRST_TAG + (turn * all.stages().size() + depth) * MOST_SUMS + item;
  }

  /** Adds room for what comes. */
  void count(LiveBytes live) {
    arriving.forEach(each -> live.add(LiveBytes.Kind.MESSAGES, each.tensor()));
  }

  /** Frees what never came. */
  void close() {
    arriving.forEach(each -> each.tensor().close());
    arriving.clear();
  }
}
