package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.units.Check;

/**
 * Cyclic data parallelism: N workers each run all N stages on a micro-batch of their own, each two
 * slots after the one before, so that at any time every stage runs at most one forward and one
 * backward pass, and the activations of all workers together stay the same.
 *
 * <p>Paper: L. Fournier, E. Oyallon, <i>Cyclic Data Parallelism for Efficient Parallelism of Deep
 * Neural Networks</i>, 2024, arXiv:2403.08837, §3.2, figure 1. Its time step is our slot: one
 * forward or backward pass of one stage. Stages, workers and training steps are counted from 0, as
 * everywhere here; the paper counts from 1.
 *
 * @param workers N: workers, stages, and micro-batches of a training step
 */
public record Cyclic(int workers) {
  /** Which parameters a micro-batch's gradients are taken at. */
  public enum Rule {
    /** Those of the training step before, all of them: PipeDream-2BW's rule. */
    V1("cyclic-v1"),
    /** The freshest that there are when a worker comes to a stage. */
    V2("cyclic-v2");

    private final String label;

    Rule(String label) {
      this.label = label;
    }

    /** What the command line calls it. */
    public String label() {
      return label;
    }
  }

  public Cyclic {
    Check.that(workers >= 1, "cyclic data parallelism has workers: workers=%d", workers);
  }

  /** Slots of a training step: a forward and a backward pass through all stages. */
  public int slots() {
    return Math.multiplyExact(2, workers);
  }

  /**
   * When a worker runs a stage.
   *
   * @param pass {@code FORWARD} or {@code BACKWARD}
   */
  public long slot(Pass pass, int stage, int worker, int step) {
    Check.that(
        pass == Pass.FORWARD || pass == Pass.BACKWARD,
        "a slot holds a whole forward or backward pass: pass=%s",
        pass);
    long start = 2L * worker + (long) slots() * step;
    return start + (pass == Pass.FORWARD ? stage : slots() - 1 - stage);
  }

  /**
   * By how many training steps the parameters are old that a worker uses for a stage: 0 or 1. Under
   * V2 they are fresh where the last worker's backward pass of the step before has ended by then.
   */
  public int delay(Rule rule, int worker, int stage) {
    return rule == Rule.V2 && worker + stage >= workers - 1 ? 0 : 1;
  }

  /**
   * Workers that hold a stage's activations, at any time but at the ends of training: also the
   * devices that this stage needs where each holds the activations of one micro-batch (§4.3, the
   * pyramid).
   */
  public int holders(int stage) {
    return workers - stage;
  }

  /**
   * Every worker's passes in order. Worker {@code i} is rank {@code i} and its stages are chain
   * {@code i}; a chain's micro-batches are the training steps. The workers' distance of two slots
   * is no dependency, so it shows in {@link #slot} only.
   */
  public Schedule schedule(Rule rule, int steps) {
    int[] rankOf = new int[Math.multiplyExact(workers, workers)];
    long[][] programs = new long[workers][];
    for (int worker = 0; worker < workers; worker++) {
      Program program = new Program();
      int first = worker * workers;
      for (int stage = 0; stage < workers; stage++) {
        rankOf[first + stage] = worker;
      }
      for (int step = 0; step < steps; step++) {
        for (int stage = 0; stage < workers; stage++) {
          program.add(Pass.FORWARD, first + stage, step);
        }
        for (int stage = workers - 1; stage >= 0; stage--) {
          program.add(Pass.BACKWARD, first + stage, step);
        }
      }
      programs[worker] = program.packed();
    }
    return new Schedule(rule.label(), Placement.of(workers, workers, rankOf), steps, programs);
  }
}
