package dev.pipewright.schedule.cyclic;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;

/**
 * Cyclic data parallelism on a device for each worker (§4.2): no all-reduce, but one message for
 * each stage and training step to each worker.
 *
 * <p>Before a worker's backward pass of a stage it takes over what the worker before holds: the sum
 * of this step's gradients so far, and the complete sum of the step before, with which it updates
 * its own copy right behind that pass. So a worker runs both passes of a micro-batch with the same
 * parameters, one step old, and needs no second copy: rule V1. The last round, behind the last
 * backward passes, takes the last sum to all. Together N − 1 running and N − 1 complete sums of a
 * stage are sent in a step: what an all-reduce in a ring sends, spread over the step.
 *
 * <p>Under V2 a worker that gets fresh parameters takes over before its forward pass too, and
 * updates then. Messages of a stage go in the order of the slots, so that whoever is next has all
 * that the ones before have had, and the sum so far passes through workers that only go forward:
 * one message more for each fresh forward pass, and none of them can hide behind a pass.
 *
 * <p>In the first step the first parameters are handed on likewise, before the forward passes.
 */
final class Ring {
  private final Cyclic cyclic;
  private final int workers;
  private final Cyclic.Rule rule;
  private final AheadProgram[] programs;
  private final int[] turns; // by stage: taken so far

  private Ring(Cyclic cyclic, Cyclic.Rule rule, int steps) {
    this.cyclic = cyclic;
    this.rule = rule;
    workers = cyclic.workers();
    programs = new AheadProgram[workers];
    int room = Math.multiplyExact(workers, 4 * steps + 2); // with the first and the last round
    for (int worker = 0; worker < workers; worker++) {
      int fresh = rule == Cyclic.Rule.V2 ? worker + 1 : 0; // stages
      programs[worker] = new AheadProgram(room + fresh * (steps - 1));
    }
    turns = new int[workers];
  }

  static Schedule of(Cyclic cyclic, Cyclic.Rule rule, int steps) {
    Ring ring = new Ring(cyclic, rule, steps);
    cyclic.walk(steps, ring::pass);
    ring.lastRound(steps - 1);
    long[][] packed = new long[ring.workers][];
    Arrays.setAll(packed, worker -> ring.programs[worker].packed());
    String name = Cyclic.Form.RING.label(rule);
    return new Schedule(name, cyclic.chainPerWorker(false), steps, packed);
  }

  private void pass(Pass pass, int stage, int worker, int step) {
    if (pass == Pass.FORWARD) {
      forward(stage, worker, step);
    } else {
      backward(stage, worker, step);
    }
  }

  private boolean fresh(int stage, int worker) {
    return cyclic.delay(rule, worker, stage) == 0;
  }

  private void forward(int stage, int worker, int step) {
    boolean awaited = step > 0 && fresh(stage, worker) && worker < workers - 1;
    if (step == 0 || awaited) {
      take(stage, worker);
    }
    if (awaited) {
      run(Pass.UPDATE, stage, worker, step - 1);
    }
    run(Pass.FORWARD, stage, worker, step);
  }

  private void backward(int stage, int worker, int step) {
    take(stage, worker);
    run(Pass.BACKWARD, stage, worker, step);
    if (step > 0 && !fresh(stage, worker)) {
      run(Pass.UPDATE, stage, worker, step - 1);
    }
    if (worker == workers - 1 && fresh(stage, worker)) {
      run(Pass.UPDATE, stage, worker, step); // the sum is complete here
    }
  }

  private void lastRound(int step) {
    for (int stage = workers - 1; stage >= 0; stage--) {
      if (!fresh(stage, workers - 1)) {
        run(Pass.UPDATE, stage, workers - 1, step);
      }
      for (int worker = 0; worker < workers - 1; worker++) {
        take(stage, worker);
        run(Pass.UPDATE, stage, worker, step);
      }
    }
  }

  private void take(int stage, int worker) {
    if (workers > 1) {
      programs[worker].take(worker * workers + stage, turns[stage]++);
    }
  }

  private void run(Pass pass, int stage, int worker, int number) {
    programs[worker].run(pass, worker * workers + stage, number);
  }
}
