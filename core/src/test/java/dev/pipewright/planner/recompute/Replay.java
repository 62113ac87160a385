package dev.pipewright.planner.recompute;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.LayerCosts;
import dev.pipewright.planner.recompute.Step.Kind;
import java.util.List;

/** Runs steps one by one on sets of what is held: seconds and the most bytes, or a failure. */
record Replay(double seconds, double peakBytes) {
  /** Throws where a step lacks what it reads or a layer's backward pass is missing. */
  static Replay of(LayerCosts costs, List<Step> steps) {
    int layers = costs.size();
    boolean[] kept = new boolean[layers];
    boolean[] input = new boolean[layers + 1];
    input[0] = true;
    double seconds = 0;
    double peak = 0;
    int left = layers; // backward passes still to come, the last layer's first
    for (Step step : steps) {
      int layer = step.layer();
      boolean fed = input[layer] || (layer > 0 && kept[layer - 1]);
      assertTrue(fed, "no input: " + step + " of " + steps);
      if (step.kind() == Kind.BACKWARD) {
        assertTrue(kept[layer] && layer == left - 1, "too early: " + step + " of " + steps);
        seconds += costs.backward()[layer];
        kept[layer] = false;
        input[layer] = layer == 0;
        left--;
        continue;
      }
      if (step.kind() == Kind.KEEP) {
        kept[layer] = true;
      } else {
        input[layer + 1] = true;
      }
      seconds += costs.forward()[layer];
      peak = Math.max(peak, held(costs, kept, input));
      if (step.kind() == Kind.PASS) {
        input[layer] = layer == 0;
      }
    }
    assertTrue(left == 0, "unfinished: " + steps);
    return new Replay(seconds, peak);
  }

  private static double held(LayerCosts costs, boolean[] kept, boolean[] input) {
    double held = 0;
    for (int layer = 0; layer < costs.size(); layer++) {
      held += kept[layer] ? costs.kept()[layer] : 0;
      boolean apart = layer > 0 && input[layer] && !kept[layer - 1];
      held += apart ? costs.input()[layer] : 0;
    }
    return held;
  }
}
