package dev.pipewright.solver.calibrate;

import dev.pipewright.predict.transformer.MeasuredStep;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Weights for steps of which many resemble each other. Runs of a network on a machine are no
 * independent evidence: of n such steps each counts n^−¾, so that a group of n has the weight of
 * the fourth root of n steps. Without this, tables that repeat a network over releases decide
 * constants that other networks share; cross-validated errors of dense networks were 1.4 times as
 * large.
 */
public final class GroupWeights {
  private static final double SAME = 0.75; // 0: all steps count alike; 1: all groups

  private GroupWeights() {}

  /** The steps with their weights times that of their group. */
  public static List<MeasuredStep> of(List<MeasuredStep> steps) {
    Map<String, Integer> sizes = new HashMap<>();
    steps.forEach(step -> sizes.merge(step.group(), 1, Integer::sum));
    return steps.stream()
        .map(step -> {
          int size = sizes.getOrDefault(step.group(), 1);
          return new MeasuredStep(
              step.id(),
              step.group(),
              step.run(),
              step.seconds(),
              step.weight() * Math.pow(size, -SAME));
        })
        .toList();
  }
}
