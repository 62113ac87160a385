package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PipelineFormulaTest {
  private static final int CASES = 2000;

  static Stream<PipelineFormula> formulas() {
    return Stream.of(new PathFormula(), PivotFormula.CORRECTED, PivotFormula.PUBLISHED);
  }

  /** All but the published formula, whose steps may be shorter than the work they consist of. */
  static Stream<PipelineFormula> bounded() {
    return Stream.of(new PathFormula(), PivotFormula.CORRECTED);
  }

  @ParameterizedTest(name = "formula {index}, seeds 1 to " + CASES)
  @MethodSource("formulas")
  void aLabelThatIsNowhereLargerLeadsToNoLongerStep(PipelineFormula formula) {
    int compared = 0;
    for (int seed = 1; seed <= CASES; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int microBatches = random.nextInt(1, 12);
      int stages = random.nextInt(1, 5);
      List<double[]> labels = suffixes(formula, random, stages, microBatches);
      Pipelines front = Pipelines.random(random, random.nextInt(2, 5), microBatches);
      for (double[] a : labels) {
        for (double[] b : labels) {
          if (nowhereLarger(a, b)) {
            compared++;
            double faster = completed(formula, front, a);
            double slower = completed(formula, front, b);
            assertTrue(faster <= slower * (1 + 1e-12) + 1e-12, () -> faster + " > " + slower);
          }
        }
      }
    }
    assertTrue(compared > CASES, "too few comparable labels: " + compared);
  }

  private static List<double[]> suffixes(
      PipelineFormula formula, SplittableRandom random, int stages, int microBatches) {
    List<double[]> labels = new ArrayList<>();
    Pipelines base = Pipelines.random(random, stages, microBatches);
    for (int i = 0; i < 12; i++) {
      Pipelines other =
          i < 6 ? Pipelines.random(random, stages, microBatches) : nudged(random, base);
      labels.add(other.with(base.inFlight()).label(formula, 0)); // equal in plans of equal length
    }
    return labels;
  }

  /** The same pipeline with some times a little longer or shorter. */
  private static Pipelines nudged(SplittableRandom random, Pipelines base) {
    double[] forward = base.forward().clone();
    double[] backward = base.backward().clone();
    double[] tail = base.tail().clone();
    int stage = random.nextInt(forward.length);
    forward[stage] *= random.nextDouble(0.5, 2);
    backward[random.nextInt(forward.length)] *= random.nextDouble(0.5, 2);
    tail[random.nextInt(forward.length)] *= random.nextDouble(0.5, 2);
    return new Pipelines(
        forward, backward, base.there(), base.back(), tail, base.inFlight(), base.microBatches());
  }

  private static boolean nowhereLarger(double[] a, double[] b) {
    for (int i = 0; i < a.length; i++) {
      if (a[i] > b[i]) {
        return false;
      }
    }
    return true;
  }

  /** The step when all but the last stage of {@code front} come before a label. */
  private static double completed(PipelineFormula formula, Pipelines front, double[] label) {
    double[] completed = label.clone();
    front.prepend(formula, completed, 0, front.stages() - 1);
    return formula.seconds(completed, 0);
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void thePathFormulaIsMonotoneInAnySeconds(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    PathFormula formula = new PathFormula();
    Pipelines front = Pipelines.random(random, random.nextInt(2, 6), random.nextInt(1, 20));
    double[] a = random.doubles(formula.width(), 0, 10).toArray();
    a[formula.width() - 1] = random.nextInt(1, 20); // micro-batches that the first stage holds
    double[] b = a.clone();
    for (int i = 0; i < b.length - 1; i++) {
      b[i] += random.nextBoolean() ? 0 : random.nextDouble();
    }
    assertTrue(completed(formula, front, a) <= completed(formula, front, b) + 1e-12);
  }

  @ParameterizedTest(name = "formula {index}, seeds 1 to " + CASES)
  @MethodSource("bounded")
  void theBoundNeverExceedsTheStepOfAnyCompletion(PipelineFormula formula) {
    for (int seed = 1; seed <= CASES; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Pipelines whole = Pipelines.random(random, random.nextInt(1, 7), random.nextInt(1, 12));
      double seconds = whole.seconds(formula);
      for (int first = 0; first < whole.stages(); first++) {
        double[] label = whole.label(formula, first);
        double slowest = 0;
        double delay = 0;
        for (int stage = 0; stage < first; stage++) {
          double both = whole.forward()[stage] + whole.backward()[stage];
          slowest = Math.max(slowest, both);
          delay = both + Math.max(delay, whole.tail()[stage]);
        }
        double least = random.nextBoolean() ? 1 : random.nextDouble();
        int microBatches = whole.microBatches();
        double bound = formula.bound(label, 0, least * slowest, least * delay, microBatches);
        assertTrue(bound <= seconds * (1 + 1e-12) + 1e-12, () -> bound + " > " + seconds);
      }
    }
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void pathsThatAddUpGrowByEveryStageInFull(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Pipelines whole = Pipelines.random(random, random.nextInt(1, 7), random.nextInt(1, 12));
    for (PipelineFormula formula : formulas().filter(PipelineFormula::pathsAddUp).toList()) {
      double behind = 0;
      for (int first = whole.stages() - 1; first >= 0; first--) {
        double both = whole.forward()[first] + whole.backward()[first];
        double[] label = whole.label(formula, first);
        double path = formula.path(label, 0);
        assertTrue(path >= behind + both - 1e-12);
        assertTrue(path >= whole.microBatches() * both - 1e-12);
        assertTrue(formula.seconds(label, 0) >= path + whole.tail()[first] - 1e-12);
        behind = path;
      }
    }
  }

  @RepeatedTest(value = 500, name = "seed {currentRepetition}")
  void thePivotFormulasAreTheirDefinition(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Pipelines whole = Pipelines.random(random, random.nextInt(1, 7), random.nextInt(1, 20));
    assertEquals(Definition.of(whole, true), whole.seconds(PivotFormula.CORRECTED), 1e-9);
    assertEquals(Definition.of(whole, false), whole.seconds(PivotFormula.PUBLISHED), 1e-9);
  }

  /** DAPPLE's formulas 1 to 3 over arrays, transfers being stages. */
  private static final class Definition {
    static double of(Pipelines whole, boolean corrected) {
      int size = 2 * whole.stages() - 1;
      double[] f = new double[size];
      double[] b = new double[size];
      double[] ar = new double[size];
      for (int s = 0; s < size; s++) {
        boolean network = s % 2 == 1;
        f[s] = network ? whole.there()[s / 2] : whole.forward()[s / 2];
        b[s] = network ? whole.back()[s / 2] : whole.backward()[s / 2];
        ar[s] = network ? 0 : whole.tail()[s / 2];
      }
      int m = whole.microBatches();
      int q = pivot(f, b, m);
      double ending = Double.NEGATIVE_INFINITY;
      for (int s = 0; s < size; s++) {
        double shift = corrected ? corrected(b, s, q) : published(b, s, q);
        ending = Math.max(ending, ar[s] + shift);
      }
      return sum(f, 0, q) + (m - 1) * (f[q] + b[q]) + ending;
    }

    private static int pivot(double[] f, double[] b, int m) {
      int q = f.length - 1;
      for (int s = f.length - 2; s >= 0; s--) {
        double between = sum(f, s + 1, q - 1) + sum(b, s + 1, q - 1);
        if ((m - 1) * (f[s] + b[s]) > (m - 1) * (f[q] + b[q]) + between) {
          q = s;
        }
      }
      return q;
    }

    private static double corrected(double[] b, int s, int q) {
      return s <= q ? sum(b, s, q) : -sum(b, q + 1, s - 1);
    }

    private static double published(double[] b, int s, int q) {
      return s >= q ? -sum(b, q, s) : sum(b, s, q);
    }

    private static double sum(double[] values, int from, int to) {
      double sum = 0;
      for (int i = from; i <= to; i++) {
        sum += values[i];
      }
      return sum;
    }
  }

  @Test
  void oneStageTakesTwelveSecondsAndNotThePublishedEight() {
    Pipelines one =
        new Pipelines(
            new double[] {1},
            new double[] {2},
            new double[1],
            new double[1],
            new double[1],
            new int[] {1},
            4);
    assertEquals(8, one.seconds(PivotFormula.PUBLISHED));
    assertEquals(12, one.seconds(PivotFormula.CORRECTED));
    assertEquals(12, one.seconds(new PathFormula()));
  }

  @Test
  void aStageThatHoldsOneMicroBatchWaitsForEveryRoundTrip() {
    Pipelines two =
        new Pipelines(
            new double[] {1, 1},
            new double[] {2, 2},
            new double[] {0.5, 0},
            new double[] {0.5, 0},
            new double[2],
            new int[] {1, 1},
            4);
    assertEquals(4 * 7, two.seconds(new PathFormula()));
  }
}
