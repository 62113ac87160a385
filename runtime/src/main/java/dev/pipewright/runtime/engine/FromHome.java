package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.TensorArena;
import dev.pipewright.runtime.transport.Transport;

/**
 * A stage whose parameters are on one worker, as all compute it who only answer: they get them from
 * there, message by message, and forget them.
 */
final class FromHome implements OwnStage, GatheredParameters {
  private final Stage stage;
  private final int depth;
  private final TensorArena room;
  private final Tensor parameters;
  private final Transport transport;
  private final int home;
  private final PendingSends pendingSends;
  private int times; // that they were told

  /**
   * @param room of the parameters, while somebody computes with them
   * @param parameters all of them at home; without numbers elsewhere
   */
  FromHome(
      Stage stage,
      int depth,
      TensorArena room,
      Tensor parameters,
      Transport transport,
      int home,
      PendingSends pendingSends) {
    this.stage = stage;
    this.depth = depth;
    this.room = room;
    this.parameters = parameters;
    this.transport = transport;
    this.home = home;
    this.pendingSends = pendingSends;
  }

  @Override
  public Stage stage() {
    return stage;
  }

  @Override
  public boolean inTwoParts() {
    return false;
  }

  @Override
  public void left(int segment) {
    // nothing comes back
  }

  @Override
  public GatheredParameters gatheredParameters() {
    return this;
  }

  @Override
  public void ahead(int segment) {
    // they come when they are needed
  }

  @Override
  public void need(int segment) {
    int tag = Relay.FIRST_TAG + times++ * transport.workers() + depth;
    if (transport.worker() == home) {
      tell(tag);
      TensorArena.move(parameters, room.numbers());
    } else {
      room.fill();
      transport.receive(room.numbers(), home, tag).await();
    }
  }

  private void tell(int tag) {
    try (Scope scope = new Scope()) {
      Tensor copy = parameters.copy(); // as they have no numbers here while this worker computes
      for (int to = 0; to < transport.workers(); to++) {
        if (to != home) {
          pendingSends.add(to, copy.shared(), transport.send(copy, to, tag));
        }
      }
    }
  }

  @Override
  public void leave(int segment) {
    if (transport.worker() == home) {
      TensorArena.move(room.numbers(), parameters);
    } else {
      room.empty();
    }
  }
}
