package dev.pipewright.runtime.engine;

import dev.pipewright.exchange.GradientPasses;
import dev.pipewright.exchange.SumUses;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;

/**
 * A worker's part in handing a stage's sums on, from turn to turn and from worker to worker: no
 * collective operation, one message after each turn. What this worker no longer needs is freed.
 */
final class Relay {
  static final int FIRST_TAG = 1 << 30; // after all of other messages
  private static final int MOST_SUMS = 4; // in one message

  private final Assignment all;
  private final int depth;
  private final int rank;
  private final AsyncSums sums;
  private final PendingSends sends;
  private final PendingReceives receives;
  private final GradientPasses gradientPasses;
  private final SumUses uses;

  Relay(WorkerSetup setup, Assignment all, int depth, AsyncSums sums) {
    this.all = all;
    this.depth = depth;
    this.rank = setup.rank();
    this.sums = sums;
    this.sends = setup.sends();
    this.receives = new PendingReceives(setup.transport());
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
        int update = carried.get(i);
        Tensor room = scope.keep(sums.room());
        receives.receive(room, from, tag(turn, i), sum -> sums.add(update, sum));
      }
      if (carried.isEmpty()) { // only to say whose turn it is
        receives.receive(scope.keep(Tensor.zeros(1)), from, tag(turn, 0), nothing -> {});
      }
    }
  }

  /** Waits for all that was asked for. */
  void await() {
    receives.await();
  }

  /** An op of the stage has ended: sends what the next turn needs. */
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
        sends.send(sums.of(carried.get(i)).shared(), to, tag(turn, i));
      }
      if (carried.isEmpty()) {
        sends.send(scope.keep(Tensor.zeros(1)), to, tag(turn, 0));
      }
    }
  }

  private int tag(int turn, int item) {
    return FIRST_TAG + (turn * all.stages().size() + depth) * MOST_SUMS + item;
  }

  /** Adds room for what comes. */
  void count(LiveBytes live) {
    receives.count(live);
  }

  /** Frees what never came. */
  void close() {
    receives.close();
  }
}
