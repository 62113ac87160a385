package dev.pipewright.schedule.cyclic;

import static java.util.Objects.requireNonNull;

import dev.pipewright.schedule.ExchangeExecution;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.check.Execution.At;
import dev.pipewright.schedule.cyclic.Cyclic.Form;
import dev.pipewright.schedule.cyclic.Cyclic.Rule;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * The gradients, by training step and worker, in the sums of its stage that a rank has behind each
 * op: what it has taken over, and its own from its last micro-batch of a step on.
 */
final class GradientSums {
  private final ExchangeExecution execution;
  private final int workers;
  private final int steps;
  private final Map<At, BitSet> behind = new HashMap<>();

  GradientSums(Form form, Rule rule, int workers, int steps) {
    this.execution = ExchangeExecution.ofSlots(new Cyclic(workers).schedule(form, rule, steps));
    this.workers = workers;
    this.steps = steps;
    Map<String, At> last = new HashMap<>();
    for (At at : execution.order()) {
      if (at.op().pass() == Pass.BACKWARD) {
        last.put(copy(at) + " " + Turn.of(form, at.op(), workers).step(), at);
      }
    }
    Map<String, BitSet> now = new HashMap<>();
    Map<String, BitSet> own = new HashMap<>();
    for (At at : execution.order()) {
      Op op = at.op();
      BitSet sum = now.computeIfAbsent(copy(at), k -> new BitSet());
      if (op.pass() == Pass.HAND_ON && op.microBatch() > 0) {
        sum.or(behind(execution.release(at)));
      } else if (op.pass() == Pass.BACKWARD) {
        Turn turn = Turn.of(form, op, workers);
        BitSet added = own.computeIfAbsent(copy(at), k -> new BitSet());
        added.set(turn.step() * workers + turn.worker());
        if (at.equals(last.get(copy(at) + " " + turn.step()))) {
          sum.or(added);
        }
      }
      behind.put(at, (BitSet) sum.clone());
    }
  }

  private String copy(At at) {
    return at.rank() + " " + at.op().stage() % workers;
  }

  private BitSet behind(At at) {
    return requireNonNull(behind.get(at));
  }

  ExchangeExecution execution() {
    return execution;
  }

  /** How many workers' gradients of a step are in the sum behind an op. */
  int count(At at, int step) {
    return behind(at).get(step * workers, (step + 1) * workers).cardinality();
  }

  /** Sums that come to a device which lacks some of their gradients, by hand-ons of a training. */
  int sent() {
    Map<String, BitSet> before = new HashMap<>();
    int sent = 0;
    for (At at : execution.order()) {
      BitSet now = behind(at);
      BitSet gained = (BitSet) now.clone();
      BitSet old = before.put(copy(at), now);
      gained.andNot(old == null ? new BitSet() : old);
      for (int step = 0; at.op().pass() == Pass.HAND_ON && step < steps; step++) {
        sent += gained.get(step * workers, (step + 1) * workers).isEmpty() ? 0 : 1;
      }
    }
    return sent;
  }
}
