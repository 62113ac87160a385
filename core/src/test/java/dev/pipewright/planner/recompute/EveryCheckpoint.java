package dev.pipewright.planner.recompute;

import dev.pipewright.cost.LayerCosts;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * The referee: the fastest of all orders of passes, found as a shortest path through everything
 * that can be held: kept layers, checkpoints and one activation that is on its way.
 */
final class EveryCheckpoint {
  private static final int NOWHERE = 15;

  private final LayerCosts costs;
  private final double bytes;
  private final boolean mayDrop;
  private final PriorityQueue<Reached> queue =
      new PriorityQueue<>((a, b) -> Double.compare(a.seconds, b.seconds));

  private EveryCheckpoint(LayerCosts costs, double bytes, boolean mayDrop) {
    this.costs = costs;
    this.bytes = bytes;
    this.mayDrop = mayDrop;
  }

  /** Bits of kept layers, of checkpoints, where the activation on its way is, passes left. */
  private record State(int kept, int inputs, int moving, int left) {}

  private record Reached(State state, double seconds) {}

  /**
   * Seconds, infinite where the bytes are too few.
   *
   * @param mayDrop whether what was kept may go before the backward pass that it was kept for
   */
  static double seconds(LayerCosts costs, double bytes, boolean mayDrop) {
    return new EveryCheckpoint(costs, bytes, mayDrop).search();
  }

  private double search() {
    Map<State, Double> best = new HashMap<>();
    queue.add(new Reached(new State(0, 1, NOWHERE, costs.size()), 0));
    while (!queue.isEmpty()) {
      Reached now = queue.remove();
      if (best.putIfAbsent(now.state, now.seconds) != null) {
        continue;
      }
      if (now.state.left == 0) {
        return now.seconds;
      }
      for (int layer = 0; layer < now.state.left; layer++) {
        backward(now.state, layer, now.seconds);
        forward(now.state, layer, now.seconds);
      }
    }
    return Double.POSITIVE_INFINITY;
  }

  private static boolean isFed(State s, int layer) {
    return (s.inputs >> layer & 1) != 0 || (layer > 0 && (s.kept >> (layer - 1) & 1) != 0);
  }

  private void forward(State s, int layer, double seconds) {
    int bit = 1 << layer;
    double after = seconds + costs.forward()[layer];
    offer(new State(s.kept, s.inputs, NOWHERE, s.left), 0, seconds);
    if (s.moving == layer) {
      offer(new State(s.kept, s.inputs | bit, NOWHERE, s.left), 0, seconds);
      double passed = layer + 1 < costs.size() ? costs.input()[layer] : 0;
      offer(new State(s.kept, s.inputs, layer + 1, s.left), passed, after);
    }
    if (isFed(s, layer)) {
      offer(new State(s.kept | bit, s.inputs, NOWHERE, s.left), 0, after);
      offer(new State(s.kept, s.inputs, layer + 1, s.left), 0, after);
    }
    if (mayDrop) {
      offer(new State(s.kept & ~bit, s.inputs, s.moving, s.left), 0, seconds);
      int inputs = layer > 0 ? s.inputs & ~bit : s.inputs;
      offer(new State(s.kept, inputs, s.moving, s.left), 0, seconds);
    }
  }

  private void backward(State s, int layer, double seconds) {
    int bit = 1 << layer;
    if (layer == s.left - 1 && (s.kept & bit) != 0 && isFed(s, layer)) {
      int inputs = layer > 0 ? s.inputs & ~bit : s.inputs;
      State after = new State(s.kept & ~bit, inputs, NOWHERE, s.left - 1);
      offer(after, 0, seconds + costs.backward()[layer]);
    }
  }

  private void offer(State s, double passing, double seconds) {
    if (s.moving < NOWHERE && s.moving >= s.left) {
      return;
    }
    double held = passing + (s.moving < NOWHERE ? costs.input()[s.moving] : 0);
    for (int layer = 0; layer < costs.size(); layer++) {
      held += (s.kept >> layer & 1) != 0 ? costs.kept()[layer] : 0;
      held += layer > 0 && (s.inputs >> layer & 1) != 0 ? costs.input()[layer] : 0;
    }
    if (held <= bytes + 1e-9) {
      queue.add(new Reached(s, seconds));
    }
  }
}
