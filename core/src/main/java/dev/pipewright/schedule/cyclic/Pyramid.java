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
  private final int steps;
  private final int stage;
  private final Program[] devices; // of the stage
  private int turn; // of the next hand-on: a stage goes back in the order of micro-batches

  private Pyramid(int workers, Cyclic.Rule rule, int steps, int stage) {
    this.workers = workers;
    this.rule = rule;
    this.steps = steps;
    this.stage = stage;
    devices = new Program[workers - stage];
    Arrays.setAll(
        devices, device -> new Program(4 * Math.ceilDiv(workers * steps, devices.length)));
  }

  static Schedule of(Cyclic cyclic, Cyclic.Rule rule, int steps) {
    int workers = cyclic.workers();
    Check.that(
        (double) workers * workers * steps < MOST_STAGES,
        "a pyramid counts the stages of all micro-batches, %d at most; take fewer steps: workers=%d, steps=%d",
        MOST_STAGES - 1,
        workers,
        steps);
    int[] rankOf = new int[workers * workers * steps];
    long[][] programs = new long[workers * (workers + 1) / 2][];
    int first = 0; // device of the stage
    for (int stage = 0; stage < workers; stage++) {
      Pyramid level = new Pyramid(workers, rule, steps, stage);
      level.run();
      for (int own = stage, device = 0; own < rankOf.length; own += workers) {
        rankOf[own] = first + device;
        device = device + 1 == level.devices.length ? 0 : device + 1;
      }
      for (Program device : level.devices) {
        programs[first++] = device.packed();
      }
    }
    Placement placement = Placement.of(first, workers * steps, rankOf);
    return new Schedule(Cyclic.Form.PYRAMID.label(rule), placement, 1, programs);
  }

  /** Both passes at once: a device has nothing else to do between them. */
  private void run() {
    int microBatch = 0;
    for (int step = 0; step < steps; step++) {
      for (int worker = 0; worker < workers; worker++) {
        pass(devices[microBatch % devices.length], microBatch * workers + stage, worker, step);
        microBatch++;
      }
    }
    lastRound(microBatch - 1);
  }

  private void pass(Program device, int own, int worker, int step) {
    boolean last = worker >= stage; // of the step on this device
    boolean complete = worker <= devices.length - 2; // the sum of the step before comes by
    device.add(Pass.FORWARD, own, 0);
    if (last || (complete && step > 0)) {
      take(device, own);
    }
    device.add(Pass.BACKWARD, own, 0);
    if (rule == Cyclic.Rule.V1 && last && step > 0) {
      device.add(Pass.UPDATE, own, step - 1);
    }
    if (rule == Cyclic.Rule.V2 && complete && step > 0) {
      device.add(Pass.UPDATE, own, step - 1);
    }
    if (rule == Cyclic.Rule.V2 && worker == workers - 1) {
      device.add(Pass.UPDATE, own, step);
    }
  }

  private void take(Program device, int own) {
    if (devices.length > 1) {
      device.add(Pass.HAND_ON, own, turn++);
    }
  }

  /** From the device with the last micro-batch on, each with its own last one's stage. */
  private void lastRound(int end) {
    if (rule == Cyclic.Rule.V1) {
      devices[end % devices.length].add(Pass.UPDATE, end * workers + stage, steps - 1);
    }
    for (int next = end + 1; next < end + devices.length; next++) {
      Program device = devices[next % devices.length];
      int own = (next - devices.length) * workers + stage;
      take(device, own);
      device.add(Pass.UPDATE, own, steps - 1);
    }
  }
}
