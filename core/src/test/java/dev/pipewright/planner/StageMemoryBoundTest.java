package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.recompute.Recomputation;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class StageMemoryBoundTest {
  private static final int INSTANCES = 300;
  static final int RANKS = 2;
  static final int MICRO_BATCHES = 6;
  private static final double ROUNDING = 1e-9;

  /** Some runs of layers, without working space. */
  record Problem(LayerLoads loads, double[] inputs, double free, boolean splits) {
    static Problem of(SplittableRandom random) {
      int size = random.nextInt(2, 8);
      double[] backward = random.doubles(size, 1, 3).toArray();
      double[] weights = Arrays.stream(backward).map(each -> each / 3).toArray();
      double[] kept = random.doubles(size, 0.1, 2).toArray();
      double[] none = new double[size];
      LayerLoads loads =
          new LayerLoads(
              random.doubles(size, 0.5, 1.5).toArray(),
              backward,
              backward,
              weights,
              kept,
              none,
              none,
              none);
      double[] inputs = random.doubles(size, 0, 0.1).toArray();
      double free = Arrays.stream(kept).sum() * random.nextDouble(0.3, 1.5);
      return new Problem(loads, inputs, free, random.nextBoolean());
    }

    StageMemoryBound bound() {
      return new StageMemoryBound(
          loads, inputs, RANKS, MICRO_BATCHES, splits, Recomputation.SELECTIVE, free, 0);
    }

    double mean() {
      return MICRO_BATCHES * loads.passes() / RANKS;
    }

    /** Seconds of the step that recomputes some runs, as bits. */
    double step(int repeated) {
      double seconds = 0;
      for (int at = 0; at < loads.size(); at++) {
        seconds += (repeated >> at & 1) * loads.forward()[at];
      }
      return mean() + MICRO_BATCHES * seconds / RANKS;
    }
  }

  /** What one way to cut and to recompute keeps. */
  private interface Keeping {
    double bytes(int first, int end, int stage, int repeated);
  }

  /** The least that all cuts keep. */
  private static double least(Problem problem, int stages, int repeated, Keeping keeping) {
    return least(problem.loads().size(), 0, 0, stages, repeated, keeping);
  }

  private static double least(
      int size, int first, int stage, int stages, int repeated, Keeping keeping) {
    if (stage == stages) {
      return first == size ? 0 : Double.POSITIVE_INFINITY;
    }
    double least = Double.POSITIVE_INFINITY;
    for (int end = first + 1; end <= size; end++) {
      double rest = least(size, end, stage + 1, stages, repeated, keeping);
      least = Math.min(least, keeping.bytes(first, end, stage, repeated) + rest);
    }
    return least;
  }

  /** The step that keeps within memory, of all ways to cut and to recompute. */
  @Test
  void noStepThatFitsOverTimeIsShorter() {
    double share = 0;
    int finite = 0;
    for (int instance = 0; instance < INSTANCES; instance++) {
      SplittableRandom random = new SplittableRandom(instance);
      Problem problem = Problem.of(random);
      int stages = random.nextInt(1, problem.loads().size() + 1);
      double best = Double.POSITIVE_INFINITY;
      for (int repeated = 0; repeated < 1 << problem.loads().size(); repeated++) {
        double held =
            least(
                problem,
                stages,
                repeated,
                (first, end, stage, runs) -> overTime(problem, first, end, runs));
        double seconds = MICRO_BATCHES * held / (RANKS * problem.free());
        best = Math.min(best, Math.max(problem.step(repeated), seconds));
      }
      double bound = problem.bound().overTime(stages, problem.mean(), Double.POSITIVE_INFINITY);
      assertTrue(bound <= best * (1 + ROUNDING), instance + ": " + bound + " > " + best);
      share += bound / best;
      finite++;
    }
    assertTrue(share / finite > 0.95, "share " + share / finite);
  }

  /** Bytes times seconds that a micro-batch keeps of a stage. */
  private static double overTime(Problem problem, int first, int end, int repeated) {
    LayerLoads loads = problem.loads();
    double later = 0;
    for (int at = first; at < loads.size(); at++) {
      later += loads.passes(at) - (problem.splits() ? loads.weights()[at] : 0);
    }
    double held = problem.inputs()[first] * later;
    for (int at = first; at < end; at++) {
      double own = problem.splits() ? loads.weights()[at] : 0;
      held += (repeated >> at & 1) == 1 ? 0 : loads.kept()[at] * (later + own);
    }
    return held;
  }

  @Test
  void noStepThatFitsAtOnceIsShorter() {
    double share = 0;
    int finite = 0;
    for (int instance = 0; instance < INSTANCES; instance++) {
      SplittableRandom random = new SplittableRandom(9000 + instance);
      Problem problem = Problem.of(random);
      int[] inFlight = random.ints(random.nextInt(1, problem.loads().size() + 1), 1, 4).toArray();
      double best = Double.POSITIVE_INFINITY;
      for (int repeated = 0; repeated < 1 << problem.loads().size(); repeated++) {
        double held =
            least(
                problem,
                inFlight.length,
                repeated,
                (first, end, stage, runs) -> inFlight[stage] * atOnce(problem, first, end, runs));
        best = held <= RANKS * problem.free() ? Math.min(best, problem.step(repeated)) : best;
      }
      double bound = problem.bound().atOnce(inFlight, problem.mean(), Double.POSITIVE_INFINITY);
      assertTrue(bound <= best * (1 + ROUNDING), instance + ": " + bound + " > " + best);
      if (Double.isFinite(best)) {
        share += bound / best;
        finite++;
      } else {
        assertEquals(Double.POSITIVE_INFINITY, bound);
      }
    }
    assertTrue(share / finite > 0.95, "share " + share / finite);
  }

  private static double atOnce(Problem problem, int first, int end, int repeated) {
    double held = problem.inputs()[first];
    for (int at = first; at < end; at++) {
      held += (repeated >> at & 1) == 1 ? 0 : problem.loads().kept()[at];
    }
    return held;
  }
}
