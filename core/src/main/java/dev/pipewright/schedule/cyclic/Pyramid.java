package dev.pipewright.schedule.cyclic;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * Cyclic data parallelism on N − j devices for stage j, N(N+1)/2 in all (§4.3, figure 2c): a device
 * that a backward pass has freed takes the next micro-batch's forward pass. Micro-batch {@code k},
 * counted through all training steps, is a chain of its own and runs stage j on its device k mod (N
 * − j); devices are counted stage by stage.
 *
 * <p>Gradients add up on a device over its micro-batches of a step; with its last it takes over the
 * sum of the device before, and with its first of the next step the complete sum: N − j − 1
 * messages each for a stage and step, in all half of what N devices for every stage need.
 *
 * <p>Each device updates its own copy behind a backward pass, when it holds no activations, so both
 * passes of a micro-batch meet the same parameters: with the complete sum at hand under rule V2,
 * behind its last micro-batch of the step under V1.
 */
final class Pyramid {
  private static final int MOST_STAGES = 1 << 23; // as a packed op can name

  private final int workers;
  private final Cyclic.Rule rule;
  private final int microBatches;
  private final Program[] programs;
  private final int[] turns; // by stage: taken so far

  private Pyramid(int workers, Cyclic.Rule rule, int microBatches) {
    this.workers = workers;
    this.rule = rule;
    this.microBatches = microBatches;
    programs = new Program[workers * (workers + 1) / 2];
    Arrays.setAll(programs, device -> new Program());
    turns = new int[workers];
  }

  static Schedule of(Cyclic cyclic, Cyclic.Rule rule, int steps) {
    int workers = cyclic.workers();
    Check.that(
        (double) workers * workers * steps < MOST_STAGES,
        "a pyramid counts the stages of all micro-batches, %d at most; take fewer steps: workers=%d, steps=%d",
        MOST_STAGES - 1,
        workers,
        steps);
    Pyramid pyramid = new Pyramid(workers, rule, workers * steps);
    cyclic.walk(steps, pyramid::pass);
    pyramid.lastRound(steps - 1);
    long[][] packed = new long[pyramid.programs.length][];
    Arrays.setAll(packed, device -> pyramid.programs[device].packed());
    return new Schedule(Cyclic.Form.PYRAMID.label(rule), pyramid.placement(), 1, packed);
  }

  private Placement placement() {
    int[] rankOf = new int[workers * microBatches];
    for (int stage = 0; stage < rankOf.length; stage++) {
      rankOf[stage] = device(stage % workers, stage / workers);
    }
    return Placement.of(programs.length, microBatches, rankOf);
  }

  private int devices(int stage) {
    return workers - stage;
  }

  private int device(int stage, int microBatch) {
    int before = stage * workers - stage * (stage - 1) / 2;
    return before + microBatch % devices(stage);
  }

  private void pass(Pass pass, int stage, int worker, int step) {
    int microBatch = step * workers + worker;
    Program program = programs[device(stage, microBatch)];
    int own = microBatch * workers + stage;
    boolean last = worker >= stage; // of the step on this device
    boolean complete = worker <= devices(stage) - 2; // the sum of the step before comes by
    if (pass == Pass.FORWARD) {
      program.add(pass, own, 0);
      return;
    }
    if (last || (complete && step > 0)) {
      take(stage, microBatch, own);
    }
    program.add(pass, own, 0);
    if (rule == Cyclic.Rule.V1 && last && step > 0) {
      program.add(Pass.UPDATE, own, step - 1);
    }
    if (rule == Cyclic.Rule.V2 && complete && step > 0) {
      program.add(Pass.UPDATE, own, step - 1);
    }
    if (rule == Cyclic.Rule.V2 && worker == workers - 1) {
      program.add(Pass.UPDATE, own, step);
    }
  }

  private void take(int stage, int microBatch, int own) {
    if (devices(stage) > 1) {
      programs[device(stage, microBatch)].add(Pass.HAND_ON, own, turns[stage]++);
    }
  }

  /** From the device with the last micro-batch on, each with its own last one's stage. */
  private void lastRound(int step) {
    for (int stage = 0; stage < workers; stage++) {
      int end = microBatches - 1;
      if (rule == Cyclic.Rule.V1) {
        programs[device(stage, end)].add(Pass.UPDATE, end * workers + stage, step);
      }
      for (int next = end + 1; next < end + devices(stage); next++) {
        int own = (next - devices(stage)) * workers + stage;
        take(stage, next, own);
        programs[device(stage, next)].add(Pass.UPDATE, own, step);
      }
    }
  }
}
