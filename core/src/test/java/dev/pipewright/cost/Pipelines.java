package dev.pipewright.cost;

import java.util.Arrays;
import java.util.SplittableRandom;

/** A pipeline as numbers, for tests of formulas: seconds by stage, transfers behind each stage. */
public record Pipelines(
    double[] forward,
    double[] backward,
    double[] there,
    double[] back,
    double[] tail,
    int[] inFlight,
    int microBatches) {

  public int stages() {
    return forward.length;
  }

  /** Uneven stages, uneven transfers, any number of micro-batches in flight. */
  public static Pipelines random(SplittableRandom random, int stages, int microBatches) {
    boolean transfers = random.nextBoolean();
    boolean tails = random.nextBoolean();
    double[] there = skewed(random, stages, transfers ? 1 : 0);
    double[] back = skewed(random, stages, transfers ? 1 : 0);
    there[stages - 1] = 0;
    back[stages - 1] = 0;
    int[] inFlight = new int[stages];
    Arrays.setAll(inFlight, stage -> random.nextInt(1, microBatches + 1));
    return new Pipelines(
        skewed(random, stages, 1),
        skewed(random, stages, 2),
        there,
        back,
        skewed(random, stages, tails ? 10 : 0),
        inFlight,
        microBatches);
  }

  private static double[] skewed(SplittableRandom random, int size, double most) {
    double[] values = new double[size];
    Arrays.setAll(values, i -> Samples.skewed(random, most));
    return values;
  }

  /** With no more in flight than the stage before, as plans have it. */
  public Pipelines descending() {
    int[] sorted = inFlight.clone();
    Arrays.sort(sorted);
    for (int i = 0; i < sorted.length / 2; i++) {
      int swap = sorted[i];
      sorted[i] = sorted[sorted.length - 1 - i];
      sorted[sorted.length - 1 - i] = swap;
    }
    return with(sorted);
  }

  public Pipelines with(int[] otherInFlight) {
    return new Pipelines(forward, backward, there, back, tail, otherInFlight, microBatches);
  }

  /** The label of the stages from {@code first} on. */
  double[] label(PipelineFormula formula, int first) {
    double[] label = new double[formula.width()];
    formula.nothing(label, 0);
    prepend(formula, label, first, stages());
    return label;
  }

  /** Puts the stages {@code first..end-1} before a label, the transfer behind the last included. */
  void prepend(PipelineFormula formula, double[] label, int first, int end) {
    for (int stage = end - 1; stage >= first; stage--) {
      if (stage < stages() - 1) {
        formula.transfer(label, 0, there[stage], back[stage], microBatches, 0);
      }
      formula.stage(
          label, 0, forward[stage], backward[stage], tail[stage], microBatches, inFlight[stage], 0);
    }
  }

  /** The step time by a formula. */
  public double seconds(PipelineFormula formula) {
    return formula.seconds(label(formula, 0), 0);
  }
}
