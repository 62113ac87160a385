package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.TensorArena;

/**
 * A stage whose parameters are on one worker, as all compute it who only answer: they get them from
 * there, message by message, and forget them.
 */
final class FromHome implements StageParameters {
  private final WorkerSetup setup;
  private final Stage stage;
  private final int depth;
  private final TensorArena room;
  private final Tensor parameters;
  private final int home;
  private int times; // that they were told

  /**
   * @param room of the parameters, while a pass computes with them
   * @param parameters all of them at home; without numbers elsewhere
   */
  FromHome(
      WorkerSetup setup, Stage stage, int depth, TensorArena room, Tensor parameters, int home) {
    this.setup = setup;
    this.stage = stage;
    this.depth = depth;
    this.room = room;
    this.parameters = parameters;
    this.home = home;
  }

  @Override
  public Stage stage() {
    return stage;
  }

  @Override
  public void need(int segment) {
    int tag = Relay.FIRST_TAG + times++ * setup.transport().workers() + depth;
    if (setup.worker() == home) {
      tell(tag);
      TensorArena.move(parameters, room.numbers());
    } else {
      room.fill();
      setup.transport().receive(room.numbers(), home, tag).await();
    }
  }

  private void tell(int tag) {
    try (Scope scope = new Scope()) {
      Tensor copy = parameters.copy(); // as they have no numbers here while this worker computes
      for (int to = 0; to < setup.transport().workers(); to++) {
        if (to != home) {
          setup.sends().send(copy.shared(), to, tag);
        }
      }
    }
  }

  @Override
  public void leave(int segment) {
    if (setup.worker() == home) {
      TensorArena.move(room.numbers(), parameters);
    } else {
      room.empty();
    }
  }
}
