package dev.pipewright.runtime.engine;

import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.Emulation.LayerSeconds;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Transport;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * A stage of a chain on a worker whose steps flow and only take time. It has one version of its
 * parameters, of which only sizes are known; what it tells others is as large as real sums of
 * gradients.
 */
final class EmulatedStage extends RelayedStage<EmulatedStage.Sizes> {
  private final double updateSeconds;
  private final List<Tied> tied;

  /** What this stage and another one have, of which it says nothing and hears nothing. */
  private static final class Tied {
    private final TiedExchange exchange;
    private int handed; // updates
    private int heard; // likewise

    private Tied(TiedExchange exchange) {
      this.exchange = exchange;
    }

    private void hearUpTo(int updates) {
      while (heard < updates) {
        exchange.take(heard++, sum -> {});
      }
    }
  }

  /** All sums are one and the same memory, into which nobody looks. */
  record Sizes(Tensor memory) implements RelayedSums {
    static Sizes of(Stage stage) {
      try (Scope scope = new Scope()) {
        return new Sizes(scope.keep(Tensor.empty(AsyncSums.size(stage.whole().parameters()))));
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
   * @param exchanges of what this stage and another one have
   * @param pendingSends of what goes from worker to worker
   * @param group of those who reduce gradients together
   */
  EmulatedStage(
      int depth,
      Stage stage,
      Emulation emulation,
      List<TiedExchange> exchanges,
      Transport transport,
      PendingSends pendingSends,
      Optional<Group> group) {
    super(depth, stage, Sizes.of(stage), transport, pendingSends, group);
    this.tied = exchanges.stream().map(Tied::new).toList();
    this.updateSeconds = emulation.seconds(stage.range(), LayerSeconds::update);
  }

  @Override
  public void begin(Assignment all) {
    super.begin(all);
    tied.forEach(own -> {
      own.handed = 0;
      own.heard = 0;
    });
  }

  @Override
  public void forward(int microBatch, Runnable pass) {
    hear(microBatch);
    pass.run();
  }

  @Override
  public void backward(int microBatch, Runnable pass) {
    hear(microBatch);
    pass.run();
  }

  private void hear(int microBatch) {
    tied.forEach(own -> own.hearUpTo(own.exchange.version(microBatch)));
  }

  @Override
  public void finish() {
    tied.forEach(own -> own.hearUpTo(own.handed));
  }

  @Override
  public void update(int number) {
    awaitSum();
    for (Tied own : tied) {
      own.exchange.hand(depth, number, room -> {});
      own.handed = number + 1;
    }
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
