package dev.pipewright.solver.calibrate;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Cross-validation: each group of steps is predicted with constants that were fitted without it.
 * Fits begin at the constants' starts, never at a fit of all steps, which remembers the steps left
 * out in directions that only a weak prior holds. Groups, not steps, are left out, because steps of
 * a network on a machine are near-copies of each other.
 */
public final class LeftOutGroups {
  private LeftOutGroups() {}

  /**
   * ln(predicted / measured) of each step, in the order given.
   *
   * @param group of a step
   * @throws IllegalArgumentException for fewer than two groups
   */
  public static double[] residuals(
      List<MeasuredStep> steps,
      List<FreeConstant> free,
      CalibratedConstants others,
      Function<MeasuredStep, String> group) {
    List<String> groups = steps.stream().map(group).distinct().toList();
    Check.that(groups.size() >= 2, "%d group cannot be left out", groups.size());
    Map<String, CalibratedConstants> without = new TreeMap<>();
    groups.parallelStream()
        .map(left ->
            Map.entry(
                left,
                ConstantsFit.of(
                        steps.stream().filter(step -> !group.apply(step).equals(left)).toList(),
                        free,
                        others)
                    .constants()))
        .toList()
        .forEach(entry -> without.put(entry.getKey(), entry.getValue()));
    return steps.stream()
        .mapToDouble(step -> step.residual(Objects.requireNonNull(without.get(group.apply(step)))))
        .toArray();
  }
}
