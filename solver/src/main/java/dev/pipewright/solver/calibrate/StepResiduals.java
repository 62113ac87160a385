package dev.pipewright.solver.calibrate;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.hipparchus.linear.MatrixUtils;
import org.hipparchus.linear.RealMatrix;
import org.hipparchus.linear.RealVector;
import org.hipparchus.optim.nonlinear.vector.leastsquares.ParameterValidator;
import org.hipparchus.optim.nonlinear.vector.leastsquares.ValueAndJacobianFunction;
import org.hipparchus.util.Pair;

/**
 * What a fit makes small, as a function of the natural logarithms of the free constants: a softened
 * residual of each step, then a pull of each prior.
 */
final class StepResiduals implements ValueAndJacobianFunction, ParameterValidator {
  private static final double SCALE = 0.04; // of the loss: errors beyond count linearly
  private static final double NUDGE = 1e-5; // of a logarithm, for slopes

  private final List<MeasuredStep> steps;
  private final List<FreeConstant> free;
  private final CalibratedConstants others;
  private final int[] parents; // index of each constant's parent, or −1
  private final int[][] read; // constants that each step looks up

  StepResiduals(List<MeasuredStep> steps, List<FreeConstant> free, CalibratedConstants others) {
    Check.that(!steps.isEmpty(), "no measured steps");
    Check.that(!free.isEmpty(), "no free constants");
    this.steps = steps;
    this.free = free;
    List<String> names = free.stream().map(FreeConstant::name).toList();
    this.parents =
        free.stream()
            .mapToInt(each -> each.parent().map(name -> index(names, name)).orElse(-1))
            .toArray();
    this.others = others;
    CalibratedConstants start =
        constants(free.stream().mapToDouble(each -> Math.log(each.start())).toArray());
    this.read =
        steps.stream()
            .map(step -> {
              Set<String> known = TransformerOracle.constantsRead(step.run(), start);
              return known.stream().mapToInt(names::indexOf).filter(i -> i >= 0).sorted().toArray();
            })
            .toArray(int[][]::new);
  }

  private static int index(List<String> names, String name) {
    int index = names.indexOf(name);
    Check.that(index >= 0, "the parent %s is not free", name);
    return index;
  }

  double[] start() {
    return free.stream().mapToDouble(each -> Math.log(each.start())).toArray();
  }

  /** The nearest point within the bounds. */
  @Override
  public RealVector validate(RealVector point) {
    for (int j = 0; j < free.size(); j++) {
      point.setEntry(j, Math.clamp(point.getEntry(j), low(j), high(j)));
    }
    return point;
  }

  private double low(int constant) {
    return Math.log(free.get(constant).low());
  }

  private double high(int constant) {
    return Math.log(free.get(constant).high());
  }

  CalibratedConstants constants(double[] logs) {
    Map<String, Double> values = new HashMap<>();
    for (int i = 0; i < logs.length; i++) {
      values.put(free.get(i).name(), Math.exp(logs[i]));
    }
    return others.with(values);
  }

  double[] residuals(double[] logs) {
    CalibratedConstants constants = constants(logs);
    return steps.stream().mapToDouble(step -> step.residual(constants)).toArray();
  }

  /** ∂ln seconds / ∂ln constant, by step and constant. */
  double[][] sensitivities(double[] logs) {
    double[] whole = residuals(logs);
    double[][] result = new double[steps.size()][free.size()];
    for (int j = 0; j < free.size(); j++) {
      double[] nudged = logs.clone();
      nudged[j] += NUDGE;
      CalibratedConstants constants = constants(nudged);
      for (int i = 0; i < steps.size(); i++) {
        if (contains(read[i], j)) {
          result[i][j] = (steps.get(i).residual(constants) - whole[i]) / NUDGE;
        }
      }
    }
    return result;
  }

  private static boolean contains(int[] sorted, int value) {
    return Arrays.binarySearch(sorted, value) >= 0;
  }

  /** Slopes of all terms with respect to the logarithms. */
  RealMatrix slopes(double[] logs) {
    double[] whole = residuals(logs);
    double[][] slopes = Arrays.copyOf(sensitivities(logs), steps.size() + free.size());
    for (int i = 0; i < steps.size(); i++) {
      double factor = Math.sqrt(steps.get(i).weight()) * softSlope(whole[i]);
      for (int j = 0; j < free.size(); j++) {
        slopes[i][j] *= factor;
      }
    }
    for (int j = 0; j < free.size(); j++) {
      double[] prior = new double[free.size()];
      prior[j] = free.get(j).strength();
      if (parents[j] >= 0) {
        prior[parents[j]] = -free.get(j).strength();
      }
      slopes[steps.size() + j] = prior;
    }
    return MatrixUtils.createRealMatrix(slopes);
  }

  /** Its square is the soft-L1 loss. */
  private static double soft(double residual) {
    double ratio = residual / SCALE;
    double root = Math.sqrt(1 + ratio * ratio);
    // √(1 + z²) − 1 = z² / (√(1 + z²) + 1) loses no digits near 0
    return residual * Math.sqrt(2 / (root + 1));
  }

  private static double softSlope(double residual) {
    double ratio = residual / SCALE;
    double root = Math.sqrt(1 + ratio * ratio);
    return Math.sqrt((root + 1) / 2) / root;
  }

  @Override
  public Pair<RealVector, RealMatrix> value(RealVector point) {
    return new Pair<>(computeValue(point.toArray()), computeJacobian(point.toArray()));
  }

  @Override
  public RealVector computeValue(double[] logs) {
    double[] whole = residuals(logs);
    double[] terms = new double[steps.size() + free.size()];
    for (int i = 0; i < steps.size(); i++) {
      terms[i] = Math.sqrt(steps.get(i).weight()) * soft(whole[i]);
    }
    for (int j = 0; j < free.size(); j++) {
      double pull = moved(logs, j) - (parents[j] >= 0 ? moved(logs, parents[j]) : 0);
      terms[steps.size() + j] = free.get(j).strength() * pull;
    }
    return MatrixUtils.createRealVector(terms);
  }

  private double moved(double[] logs, int constant) {
    return logs[constant] - Math.log(free.get(constant).start());
  }

  /**
   * Slopes, without those of constants that lie on a bound and would become better beyond it: the
   * optimizer would otherwise count on a descent that the bound forbids.
   */
  @Override
  public RealMatrix computeJacobian(double[] logs) {
    RealMatrix slopes = slopes(logs);
    double[] ascent = slopes.preMultiply(computeValue(logs).toArray());
    for (int j = 0; j < logs.length; j++) {
      boolean below = logs[j] <= low(j) && ascent[j] > 0;
      boolean above = logs[j] >= high(j) && ascent[j] < 0;
      if (below || above) {
        slopes.setColumn(j, new double[slopes.getRowDimension()]);
      }
    }
    return slopes;
  }
}
