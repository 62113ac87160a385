package dev.pipewright.schedule.cyclic;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;

/**
 * Cyclic data parallelism on a device for each worker with one copy of each stage's states
 * (parameters, gradients, optimizer), which goes from user to user in the order of the slots
 * (§4.4): in a slot a stage has one user, so nothing is ever gathered or broadcast.
 *
 * <p>The worker that completes a step's gradients keeps the states for a turn of its own, to update
 * them. From then on forward passes find the new parameters: rule V2 for nothing. Backward passes
 * of micro-batches that went forward before need the old ones, and under V1 the later forward
 * passes too: under both rules two versions go round.
 */
final class States {
  private final int workers;
  private final AheadProgram[] programs;
  private final int[] turns; // by stage: taken so far

  private States(int workers, int steps) {
    this.workers = workers;
    programs = new AheadProgram[workers];
    int room = Math.multiplyExact(4 * workers, steps);
    Arrays.setAll(programs, worker -> new AheadProgram(room));
    turns = new int[workers];
  }

  static Schedule of(Cyclic cyclic, Cyclic.Rule rule, int steps) {
    States states = new States(cyclic.workers(), steps);
    cyclic.walk(steps, states::use);
    long[][] packed = new long[states.workers][];
    Arrays.setAll(packed, worker -> states.programs[worker].packed());
    String name = Cyclic.Form.ZERO.label(rule);
    return new Schedule(name, cyclic.chainPerWorker(false), steps, packed);
  }

  private void use(Pass pass, int stage, int worker, int step) {
    int own = worker * workers + stage;
    take(stage, worker);
    programs[worker].run(pass, own, step);
    if (pass == Pass.BACKWARD && worker == workers - 1) {
      take(stage, worker);
      programs[worker].run(Pass.UPDATE, own, step);
    }
  }

  private void take(int stage, int worker) {
    if (workers > 1) {
      programs[worker].take(worker * workers + stage, turns[stage]++);
    }
  }
}
