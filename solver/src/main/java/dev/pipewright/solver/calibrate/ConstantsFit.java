package dev.pipewright.solver.calibrate;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.MeasuredStep;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.hipparchus.linear.CholeskyDecomposition;
import org.hipparchus.linear.RealMatrix;
import org.hipparchus.optim.nonlinear.vector.leastsquares.LeastSquaresBuilder;
import org.hipparchus.optim.nonlinear.vector.leastsquares.LeastSquaresOptimizer.Optimum;
import org.hipparchus.optim.nonlinear.vector.leastsquares.LevenbergMarquardtOptimizer;

/**
 * Constants that were fitted to measured steps.
 *
 * <p>Minimises Σ weight · ρ(ln(predicted / measured)) + Σ (strength · ln(value / prior))² by
 * Levenberg and Marquardt's method. ρ is the soft-L1 loss 2s²(√(1 + (r/s)²) − 1) with s = 0.04: a
 * row in ten of a shared cluster is 15 to 50 % slow, and must not pull the others. Steps of the
 * optimizer that leave the bounds are projected onto them.
 *
 * @param constants the fitted ones, with all others of the start
 * @param residuals ln(predicted / measured) of each step, in the order given
 * @param spread standard deviation of each free constant's logarithm; prior and rows together
 * @param rows how many steps depend on each free constant: at least 0.1 % of its relative change
 *     arrives in their seconds
 * @param iterations of the optimizer
 */
public record ConstantsFit(
    CalibratedConstants constants,
    double[] residuals,
    SortedMap<String, Double> spread,
    SortedMap<String, Integer> rows,
    int iterations) {
  private static final int MOST_ITERATIONS = 60;
  private static final double SAME_COST = 1e-6; // relative change of the cost that ends the fit
  private static final double FELT = 1e-3; // ∂ln seconds / ∂ln constant of a row that depends on it

  /**
   * Fits {@code free} constants; all others keep their value in {@code others}.
   *
   * @throws IllegalArgumentException where no step or no constant is given
   */
  public static ConstantsFit of(
      List<MeasuredStep> steps, List<FreeConstant> free, CalibratedConstants others) {
    StepResiduals model = new StepResiduals(steps, free, others);
    Optimum optimum =
        new LevenbergMarquardtOptimizer()
            .optimize(
                new LeastSquaresBuilder()
                    .model(model)
                    .target(new double[steps.size() + free.size()])
                    .start(model.start())
                    .parameterValidator(model)
                    .lazyEvaluation(true)
                    .checker((iteration, before, now) ->
                        iteration >= MOST_ITERATIONS
                            || Math.abs(before.getCost() - now.getCost())
                                <= SAME_COST * now.getCost())
                    .maxIterations(2 * MOST_ITERATIONS)
                    .maxEvaluations(20 * MOST_ITERATIONS)
                    .build());
    double[] logs = optimum.getPoint().toArray();
    return new ConstantsFit(
        model.constants(logs),
        model.residuals(logs),
        spread(model, logs, free, optimum.getCost()),
        rows(model, logs, free),
        optimum.getIterations());
  }

  /** From the curvature of the cost at the optimum, without bounds. */
  private static SortedMap<String, Double> spread(
      StepResiduals model, double[] logs, List<FreeConstant> free, double cost) {
    RealMatrix slopes = model.slopes(logs);
    RealMatrix covariance =
        new CholeskyDecomposition(slopes.transposeMultiply(slopes), 1e-10, 1e-14)
            .getSolver()
            .getInverse();
    double variance = cost * cost / Math.max(1, slopes.getRowDimension() - free.size());
    SortedMap<String, Double> spread = new TreeMap<>();
    for (int i = 0; i < free.size(); i++) {
      spread.put(free.get(i).name(), Math.sqrt(covariance.getEntry(i, i) * variance));
    }
    return spread;
  }

  private static SortedMap<String, Integer> rows(
      StepResiduals model, double[] logs, List<FreeConstant> free) {
    double[][] sensitivities = model.sensitivities(logs);
    SortedMap<String, Integer> rows = new TreeMap<>();
    for (int i = 0; i < free.size(); i++) {
      int count = 0;
      for (double[] row : sensitivities) {
        count += Math.abs(row[i]) >= FELT ? 1 : 0;
      }
      rows.put(free.get(i).name(), count);
    }
    return rows;
  }
}
