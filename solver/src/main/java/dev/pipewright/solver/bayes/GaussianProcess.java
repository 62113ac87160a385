package dev.pipewright.solver.bayes;

import dev.pipewright.units.Check;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.decomposition.TriangularSolver_DDRM;
import org.ejml.dense.row.factory.DecompositionFactory_DDRM;
import org.ejml.interfaces.decomposition.CholeskyDecomposition_F64;

/**
 * What is believed of a function after some of its values were seen: a normal distribution at every
 * point.
 *
 * <p>Source: C. E. Rasmussen, C. K. I. Williams, <i>Gaussian processes for machine learning</i>,
 * MIT Press 2006, algorithm 2.1, with the Matérn kernel of smoothness 5/2 (equation 4.17). The
 * length over which values resemble each other is the one of a few under which what was seen is the
 * most likely. Values are used as they stand to their mean, in standard deviations; {@link #NUGGET}
 * of variance is taken for noise, which keeps the matrix definite. O(points³) to make, O(points²)
 * to ask.
 */
public final class GaussianProcess {
  private static final double NUGGET = 1e-6;
  private static final double[] LENGTHS = {0.05, 0.1, 0.2, 0.4, 0.8, 1.6};

  private final double[][] points;
  private final double mean;
  private final double deviation;
  private final double length;
  private final double[] root; // lower triangle of the Cholesky factor, by row
  private final double[] weights;

  private GaussianProcess(
      double[][] points,
      double mean,
      double deviation,
      double length,
      double[] root,
      double[] weights) {
    this.points = points;
    this.mean = mean;
    this.deviation = deviation;
    this.length = length;
    this.root = root;
    this.weights = weights;
  }

  /**
   * A normal distribution.
   *
   * @param deviation at least 0
   */
  public record Belief(double mean, double deviation) {
    /**
     * How much a value falls short of {@code best} on average, nothing where it does not (J. Močkus
     * 1975).
     */
    public double expectedImprovement(double best) {
      if (deviation <= 0) {
        return Math.max(0, best - mean);
      }
      double z = (best - mean) / deviation;
      return Math.max(0, (best - mean) * cumulative(z) + deviation * density(z));
    }

    private static double density(double z) {
      return StrictMath.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);
    }

    /**
     * The normal distribution function to 1e-7 (M. Abramowitz, I. A. Stegun, <i>Handbook of
     * mathematical functions</i>, 26.2.17).
     */
    private static double cumulative(double z) {
      double t = 1 / (1 + 0.2316419 * Math.abs(z));
      double series =
          t
              * (0.319381530
                  + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
      double tail = density(z) * series;
      return z > 0 ? 1 - tail : tail;
    }
  }

  /**
   * The process after {@code values[i]} was seen at {@code points[i]}.
   *
   * @param points different from each other, coordinates of about 0 to 1
   */
  public static GaussianProcess of(double[][] points, double[] values) {
    Check.that(
        points.length == values.length && points.length > 0,
        "one value for each point: points=%d, values=%d",
        points.length,
        values.length);
    double mean = 0;
    for (double value : values) {
      mean += value / values.length;
    }
    double square = 0;
    for (double value : values) {
      square += (value - mean) * (value - mean) / values.length;
    }
    double deviation = square > 0 ? Math.sqrt(square) : 1;
    double[] scaled = new double[values.length];
    for (int i = 0; i < scaled.length; i++) {
      scaled[i] = (values[i] - mean) / deviation;
    }
    double[][] copies = new double[points.length][];
    for (int i = 0; i < copies.length; i++) {
      copies[i] = points[i].clone();
    }
    return likeliest(copies, scaled, mean, deviation);
  }

  private static GaussianProcess likeliest(
      double[][] points, double[] scaled, double mean, double deviation) {
    double best = Double.NEGATIVE_INFINITY;
    double length = 0;
    double[] root = new double[0];
    double[] weights = new double[0];
    for (double candidate : LENGTHS) {
      double[] factor = factor(points, candidate);
      if (factor.length == 0) {
        continue; // so smooth that the matrix is singular to rounding
      }
      double[] solved = scaled.clone();
      TriangularSolver_DDRM.solveL(factor, solved, scaled.length);
      TriangularSolver_DDRM.solveTranL(factor, solved, scaled.length);
      double likelihood = 0;
      for (int i = 0; i < scaled.length; i++) {
        likelihood -= scaled[i] * solved[i] / 2 + StrictMath.log(factor[i * scaled.length + i]);
      }
      if (likelihood > best) {
        best = likelihood;
        length = candidate;
        root = factor;
        weights = solved;
      }
    }
    Check.that(root.length > 0, "points must differ from each other: points=%d", points.length);
    return new GaussianProcess(points, mean, deviation, length, root, weights);
  }

  /**
   * The lower triangle of the factor of the covariance of all points; empty where there is none.
   */
  private static double[] factor(double[][] points, double length) {
    int size = points.length;
    DMatrixRMaj covariance = new DMatrixRMaj(size, size);
    for (int i = 0; i < size; i++) {
      for (int j = 0; j <= i; j++) {
        double value = matern(points[i], points[j], length) + (i == j ? NUGGET : 0);
        covariance.set(i, j, value);
        covariance.set(j, i, value);
      }
    }
    CholeskyDecomposition_F64<DMatrixRMaj> cholesky = DecompositionFactory_DDRM.chol(size, true);
    return cholesky.decompose(covariance) ? cholesky.getT(null).getData() : new double[0];
  }

  private static double matern(double[] a, double[] b, double length) {
    double square = 0;
    for (int i = 0; i < a.length; i++) {
      square += (a[i] - b[i]) * (a[i] - b[i]);
    }
    double r = Math.sqrt(5 * square) / length;
    return (1 + r + r * r / 3) * StrictMath.exp(-r);
  }

  /** What is believed of the function at a point. */
  public Belief at(double[] point) {
    int size = points.length;
    double[] near = new double[size];
    double expected = 0;
    for (int i = 0; i < size; i++) {
      near[i] = matern(point, points[i], length);
      expected += near[i] * weights[i];
    }
    TriangularSolver_DDRM.solveL(root, near, size);
    double left = 1;
    for (double known : near) {
      left -= known * known;
    }
    return new Belief(mean + deviation * expected, deviation * Math.sqrt(Math.max(0, left)));
  }
}
