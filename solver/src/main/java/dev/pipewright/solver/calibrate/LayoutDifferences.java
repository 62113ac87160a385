package dev.pipewright.solver.calibrate;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TransformerRun;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/**
 * How far the errors of two layouts of one network on one machine, with the same framework and
 * precision, lie apart. Errors that both share cancel, so that layouts can be distinguished more
 * finely than their seconds are known.
 */
public final class LayoutDifferences {
  private LayoutDifferences() {}

  /**
   * The largest |ln ratio| of two predictions' errors that a share of pairs does not exceed: the
   * ⌈(n + 1) · level⌉-th smallest of n pairs, or the largest. Empty without pairs.
   *
   * @param residuals ln(predicted / measured) of each step
   * @param level share of pairs, within 0 to 1
   */
  public static OptionalDouble of(List<MeasuredStep> steps, double[] residuals, double level) {
    Check.that(0 < level && level < 1, "level must lie between 0 and 1: %s", level);
    double[] pairs = sorted(steps, residuals);
    int rank = (int) Math.ceil((pairs.length + 1) * level) - 1;
    return pairs.length == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of(pairs[Math.min(pairs.length - 1, rank)]);
  }

  /** |ln ratio| of the errors of every pair, rising. */
  public static double[] sorted(List<MeasuredStep> steps, double[] residuals) {
    List<Double> pairs = new ArrayList<>();
    for (int i = 0; i < steps.size(); i++) {
      for (int j = 0; j < i; j++) {
        if (comparable(steps.get(i), steps.get(j))) {
          pairs.add(Math.abs(residuals[i] - residuals[j]));
        }
      }
    }
    return pairs.stream().mapToDouble(Double::doubleValue).sorted().toArray();
  }

  private static boolean comparable(MeasuredStep one, MeasuredStep other) {
    return one.group().equals(other.group())
        && CalibratedConstants.rangeOf(one.run()).equals(CalibratedConstants.rangeOf(other.run()))
        && !sameButForScale(one.run(), other.run());
  }

  /** Near-copies: they differ in replicas and batch alone. */
  private static boolean sameButForScale(TransformerRun one, TransformerRun other) {
    TrainingLayout here = one.layout();
    TrainingLayout there = other.layout();
    return here.tensor() == there.tensor()
        && here.pipeline() == there.pipeline()
        && here.context() == there.context()
        && here.expert() == there.expert()
        && here.interleave() == there.interleave()
        && here.microBatch() == there.microBatch()
        && here.zero() == there.zero()
        && here.sequenceParallel() == there.sequenceParallel()
        && one.recompute().equals(other.recompute());
  }
}
