package dev.pipewright.solver;

import dev.pipewright.schedule.search.OpTimes;

/**
 * A problem's durations in ticks, by stage.
 *
 * @param backward the pass that the stage before waits for: whole, or the input's gradient
 * @param weight the weights' gradient; 0 where backward passes are whole
 * @param there from a stage's forward pass until the next stage of its chain may use it
 * @param back from the next stage's backward pass until this stage may use it
 */
record Durations(
    IntegerTicks ticks, long[] forward, long[] backward, long[] weight, long[] there, long[] back) {
  static Durations of(ScheduleProblem problem) {
    OpTimes times = problem.times();
    int stages = times.stages();
    double[] backward = times.input().clone();
    double[] weight = times.weight().clone();
    double[] there = times.there().clone();
    double[] back = times.back().clone();
    for (int stage = 0; stage < stages; stage++) {
      if (!problem.split()) {
        backward[stage] += weight[stage];
        weight[stage] = 0;
      }
      if (problem.placement().last(stage) || !problem.cut(stage)) {
        there[stage] = 0;
        back[stage] = 0;
      }
    }
    double[][] all = {times.forward(), backward, weight, there, back};
    double[] joined = new double[all.length * stages];
    for (int i = 0; i < all.length; i++) {
      System.arraycopy(all[i], 0, joined, i * stages, stages);
    }
    IntegerTicks ticks = IntegerTicks.of(joined);
    return new Durations(
        ticks,
        ticks.counts(times.forward()),
        ticks.counts(backward),
        ticks.counts(weight),
        ticks.counts(there),
        ticks.counts(back));
  }

  /** All passes of a stage for one micro-batch. */
  long passes(int stage) {
    return forward[stage] + backward[stage] + weight[stage];
  }

  /** From the end of a stage's forward pass until its backward pass may start. */
  long trip(int stage, int last) {
    long trip = 0;
    for (int s = stage; s < last; s++) {
      trip += there[s] + forward[s + 1] + backward[s + 1] + back[s];
    }
    return trip;
  }

  /** From the start of a chain until the first forward pass of a stage may start. */
  long head(int stage, int first) {
    long head = 0;
    for (int s = first; s < stage; s++) {
      head += forward[s] + there[s];
    }
    return head;
  }

  /**
   * From the end of a stage's backward pass until that of the first stage of its chain has ended.
   */
  long tail(int stage, int first) {
    long tail = 0;
    for (int s = first; s < stage; s++) {
      tail += back[s] + backward[s];
    }
    return tail;
  }
}
