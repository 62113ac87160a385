package dev.pipewright.schedule.cyclic;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.UpdatedProgram;
import dev.pipewright.units.Check;

/**
 * Cyclic data parallelism: N workers each run all N stages on a micro-batch of their own, each two
 * slots after the one before, so that at any time every stage runs at most one forward or backward
 * pass, and the activations of all workers together stay the same.
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

  /** What the workers run on (§4, figure 2). */
  public enum Form {
    /** A device for each worker, gradients going round from one to the next (§4.2). */
    RING(""),
    /** One device for all workers, its passes in the order of their slots (§4.1). */
    SINGLE("-single"),
    /** N − j devices for stage j, each with one micro-batch at a time (§4.3). */
    PYRAMID("-pyramid"),
    /** A device for each stage: one forward, one backward (§4.3). */
    PIPELINE("-pipeline"),
    /** A device for each worker, a stage's states going from user to user (§4.4). */
    ZERO("-zero");

    private final String suffix;

    Form(String suffix) {
      this.suffix = suffix;
    }

    /** What the command line calls it with this rule. */
    public String label(Rule rule) {
      return rule.label() + suffix;
    }
  }

  /** What is done with each pass of a training, slot by slot. */
  interface Visitor {
    void visit(Pass pass, int stage, int worker, int step);
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

  /** On a device for each worker. */
  public Schedule schedule(Rule rule, int steps) {
    return schedule(Form.RING, rule, steps);
  }

  /**
   * So many training steps from the first forward pass to the last update.
   *
   * <p>What keeps the workers two slots apart is what they hand on and the devices they share:
   * nothing waits for a slot as such. So the first forward passes of a training run as soon as they
   * can, up to {@code worker} slots early (in the pyramid and the pipeline 2 · worker), but no
   * stage's passes ever overtake each other, and from the first backward pass on all run in their
   * slots, where all passes take one slot and exchanges take no time.
   */
  public Schedule schedule(Form form, Rule rule, int steps) {
    Check.that(steps >= 1, "a training has steps: steps=%d", steps);
    return switch (form) {
      case RING -> Ring.of(this, rule, steps);
      case SINGLE -> single(rule, steps);
      case PYRAMID -> Pyramid.of(this, rule, steps);
      case PIPELINE -> pipeline(rule, steps);
      case ZERO -> States.of(this, rule, steps);
    };
  }

  /** All passes of so many training steps by slot, those of one slot by worker. */
  void walk(int steps, Visitor visitor) {
    int slots = slots();
    for (int first = 0; first <= steps; first++) { // the step of worker 0
      for (int slot = 0; slot < slots; slot++) {
        for (int worker = 0; worker < workers; worker++) {
          int own = slot - 2 * worker;
          int step = own < 0 ? first - 1 : first;
          if (0 <= step && step < steps) {
            visit(visitor, own < 0 ? own + slots : own, worker, step);
          }
        }
      }
    }
  }

  private void visit(Visitor visitor, int slot, int worker, int step) {
    if (slot < workers) {
      visitor.visit(Pass.FORWARD, slot, worker, step);
    } else {
      visitor.visit(Pass.BACKWARD, slots() - 1 - slot, worker, step);
    }
  }

  /** Worker {@code i} is chain {@code i}, whose micro-batches are the training steps. */
  Placement chainPerWorker(boolean together) {
    int[] rankOf = new int[Math.multiplyExact(workers, workers)];
    for (int stage = 0; stage < rankOf.length; stage++) {
      rankOf[stage] = together ? 0 : stage / workers;
    }
    return Placement.of(together ? 1 : workers, workers, rankOf);
  }

  /** Gradients add up where they are; a stage is updated behind its last worker. */
  private Schedule single(Rule rule, int steps) {
    Program program = new Program(Math.multiplyExact(workers * (slots() + 1), steps));
    walk(
        steps,
        (pass, stage, worker, step) -> {
          program.add(pass, worker * workers + stage, step);
          if (pass == Pass.BACKWARD && worker == workers - 1) {
            program.add(Pass.UPDATE, worker * workers + stage, step);
          }
        });
    return new Schedule(
        Form.SINGLE.label(rule), chainPerWorker(true), steps, new long[][] {program.packed()});
  }

  /** One chain for all, whose micro-batches are those of all workers: that of the step first. */
  private Schedule pipeline(Rule rule, int steps) {
    int microBatches = Math.multiplyExact(workers, steps);
    long[][] programs = new long[workers][];
    for (int stage = 0; stage < workers; stage++) {
      int ahead = Math.min(holders(stage), microBatches);
      programs[stage] = UpdatedProgram.of(stage, microBatches, ahead, workers);
    }
    return new Schedule(
        Form.PIPELINE.label(rule), Placement.straight(workers), microBatches, programs);
  }
}
