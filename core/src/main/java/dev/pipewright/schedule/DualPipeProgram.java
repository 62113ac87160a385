package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;
import java.util.ArrayDeque;

/**
 * One rank's program of {@link DualPipe} and {@link DualPipeV}. The rank runs two stages: the near
 * one, {@code place} stages behind an entry, and the far one, as many before an exit. In the figure
 * of the paper, with {@code after} the places between this one and the middle:
 *
 * <pre>
 *   2·after      times  F near
 *   place + 1    times  F near, F far
 *   after        times  I far, W far, F far
 *   the rest:           (F near with B far), (F far with B near)
 *   after        times  B far, (F far with B near)
 *   place + 1    times  B far, B near          the second half of them: only I
 *   after        times  a W left over, I near
 *   place + 1    times  a W left over
 * </pre>
 */
final class DualPipeProgram {
  private final Program program;
  private final ArrayDeque<Op> weights = new ArrayDeque<>(); // left over, oldest first
  private final Stage near;
  private final Stage far;

  /** A stage and how many micro-batches it has seen. */
  private static final class Stage {
    final int number;
    int forwards;
    int backwards;

    Stage(int number) {
      this.number = number;
    }
  }

  private DualPipeProgram(int near, int far, int ops) {
    this.program = new Program(ops);
    this.near = new Stage(near);
    this.far = new Stage(far);
  }

  /**
   * @param place 0 at the entry of the near stage's chain, {@code places} − 1 in the middle
   * @param microBatches of each stage, 2 · {@code places} or more
   */
  static long[] of(int place, int places, int near, int far, int microBatches) {
    int after = places - 1 - place;
    int inHalves = 2 * after + place + 1; // backward passes
    DualPipeProgram program = new DualPipeProgram(near, far, 4 * microBatches + inHalves);
    program.fill(place, after);
    program.steady(microBatches - 2 * places + place + 1, after == 0);
    program.drain(place, after);
    return program.program.packed();
  }

  private void fill(int place, int after) {
    for (int i = 0; i < 2 * after; i++) {
      forward(near);
    }
    for (int i = 0; i <= place; i++) {
      forward(near);
      forward(far);
    }
    for (int i = 0; i < after; i++) {
      input(far);
      weight();
      forward(far);
    }
  }

  /** In the middle the first pair would wait for itself: the forward pass alone comes first. */
  private void steady(int pairs, boolean middle) {
    forward(near);
    if (!middle) {
      program.join();
    }
    backward(far);
    together(far, near);
    for (int i = 1; i < pairs; i++) {
      together(near, far);
      together(far, near);
    }
  }

  private void drain(int place, int after) {
    for (int i = 0; i < after; i++) {
      backward(far);
      together(far, near);
    }
    for (int i = 0; i <= place; i++) {
      gradients(far, 2 * i > place);
      gradients(near, 2 * i >= place);
    }
    for (int i = 0; i < after; i++) {
      weight();
      input(near);
    }
    while (!weights.isEmpty()) {
      weight();
    }
  }

  private void together(Stage forward, Stage backward) {
    forward(forward);
    program.join();
    backward(backward);
  }

  private void forward(Stage stage) {
    program.add(Pass.FORWARD, stage.number, stage.forwards++);
  }

  private void backward(Stage stage) {
    program.add(Pass.BACKWARD, stage.number, stage.backwards++);
  }

  private void gradients(Stage stage, boolean onlyInput) {
    if (onlyInput) {
      input(stage);
    } else {
      backward(stage);
    }
  }

  private void input(Stage stage) {
    weights.add(new Op(Pass.BACKWARD_WEIGHT, stage.number, stage.backwards));
    program.add(Pass.BACKWARD_INPUT, stage.number, stage.backwards++);
  }

  private void weight() {
    Op oldest = weights.remove();
    program.add(oldest.pass(), oldest.stage(), oldest.microBatch());
  }
}
