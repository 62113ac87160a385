package dev.pipewright.runtime.engine;

import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.Emulation.LayerSeconds;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Transport;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * A stage of a chain on a worker whose steps flow and only take time. It has one version of its
 * parameters, of which only sizes are known; what it tells others is as large as real sums of
 * gradients.
 */
final class EmulatedStage extends RelayedStage<EmulatedStage.Sizes> {
  private final double updateSeconds;

  /** All sums are one and the same memory, into which nobody looks. */
  record Sizes(Tensor memory) implements RelayedSums {
    static Sizes of(Stage stage) {
      try (Scope scope = new Scope()) {
        return new Sizes(scope.keep(Tensor.empty(FlowSums.size(stage.whole().parameters()))));
      }
    }

    @Override
    public Tensor of(int update) {
      return memory;
    }

    @Override
    public Tensor room() {
      return memory.lent();
    }

    @Override
    public void add(int update, Tensor sum) {
      // it means nothing
    }

    @Override
    public void forget(int update) {
      // the next one lies there, too
    }
  }

  /**
   * @param departures of what goes from worker to worker
   * @param group of those who reduce gradients together
   */
  EmulatedStage(
      int depth,
      Stage stage,
      Emulation emulation,
      Transport transport,
      Departures departures,
      Optional<Group> group) {
    super(depth, stage, Sizes.of(stage), transport, departures, group);
    this.updateSeconds = emulation.seconds(stage.range(), LayerSeconds::update);
  }

  @Override
  public void forward(int microBatch, Runnable pass) {
    pass.run();
  }

  @Override
  public void backward(int microBatch, Runnable pass) {
    pass.run();
  }

  @Override
  public void update(int number) {
    awaitSum();
    Pause.of(updateSeconds);
  }

  @Override
  public SequencedMap<String, Tensor> state() {
    return new LinkedHashMap<>();
  }

  @Override
  public void continueAfter(long updates) {
    // nothing is learnt
  }

  @Override
  public long bytes() {
    return 0;
  }

  @Override
  public int versions() {
    return 1;
  }

  @Override
  public void close() {
    super.close();
    sums.memory().close();
  }
}
