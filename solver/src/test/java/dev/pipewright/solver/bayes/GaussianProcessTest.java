package dev.pipewright.solver.bayes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.solver.bayes.GaussianProcess.Belief;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class GaussianProcessTest {
  private static double microBatching(double x, double y) {
    return 100 + 20 * Math.sin(3 * x) + 10 * y * y;
  }

  private static GaussianProcess seen(int points) {
    var random = new SplittableRandom(1);
    double[][] at = new double[points][];
    double[] values = new double[points];
    for (int i = 0; i < points; i++) {
      at[i] = new double[] {random.nextDouble(), random.nextDouble()};
      values[i] = microBatching(at[i][0], at[i][1]);
    }
    return GaussianProcess.of(at, values);
  }

  @Test
  void knowsWhatItHasSeenAndGuessesWhatLiesBetween() {
    GaussianProcess process = seen(40);
    var random = new SplittableRandom(1);
    for (int i = 0; i < 40; i++) {
      double[] point = {random.nextDouble(), random.nextDouble()};
      Belief belief = process.at(point);
      assertEquals(microBatching(point[0], point[1]), belief.mean(), 0.05);
      assertTrue(belief.deviation() < 0.1, belief::toString);
    }
    assertEquals(microBatching(0.5, 0.5), process.at(new double[] {0.5, 0.5}).mean(), 0.5);
  }

  @Test
  void isUnsureFarAway() {
    GaussianProcess process = seen(40);
    double near = process.at(new double[] {0.5, 0.5}).deviation();
    double far = process.at(new double[] {50, 50}).deviation();
    assertTrue(far > 20 * near, near + " " + far);
  }

  /** Two points with the covariance c: means and variances by the 2 × 2 inverse. */
  @Test
  void twoPointsAreInvertedByHand() {
    double c = 0; // of the length that is the most likely, found by trying all
    double[][] points = {{0}, {0.3}};
    double[] values = {1, 3};
    double best = Double.NEGATIVE_INFINITY;
    double length = 0;
    for (double candidate : new double[] {0.05, 0.1, 0.2, 0.4, 0.8, 1.6}) {
      double k = matern(0.3 / candidate);
      double determinant = (1 + 1e-6) * (1 + 1e-6) - k * k;
      double quadratic = 2 * (1 + 1e-6 + k) / determinant; // of (−1, 1)
      double likelihood = -quadratic / 2 - Math.log(determinant) / 2;
      if (likelihood > best) {
        best = likelihood;
        length = candidate;
        c = k;
      }
    }
    double determinant = (1 + 1e-6) * (1 + 1e-6) - c * c;
    double a = matern(0.1 / length);
    double b = matern(0.2 / length);
    double weight = (1 + 1e-6 + c) / determinant;
    Belief belief = GaussianProcess.of(points, values).at(new double[] {0.1});
    assertEquals(2 + (b - a) * weight, belief.mean(), 1e-9);
    double explained = ((1 + 1e-6) * (a * a + b * b) - 2 * c * a * b) / determinant;
    assertEquals(Math.sqrt(1 - explained), belief.deviation(), 1e-9);
  }

  private static double matern(double distance) {
    double r = Math.sqrt(5) * distance;
    return (1 + r + r * r / 3) * Math.exp(-r);
  }

  /** At the best value so far: deviation times the density at 0. */
  @Test
  void improvementIsExpectedFromUncertaintyAndFromBetterMeans() {
    assertEquals(0.3989423 * 2, new Belief(5, 2).expectedImprovement(5), 1e-6);
    assertEquals(3, new Belief(2, 0).expectedImprovement(5), 0);
    assertEquals(0, new Belief(7, 0).expectedImprovement(5), 0);
    // z = 1: Φ = 0.8413447, φ = 0.2419707
    assertEquals(2 * 0.8413447 + 2 * 0.2419707, new Belief(3, 2).expectedImprovement(5), 1e-6);
  }
}
