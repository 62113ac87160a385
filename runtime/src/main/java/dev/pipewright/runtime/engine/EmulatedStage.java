package dev.pipewright.runtime.engine;

import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.Emulation.LayerSeconds;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * A stage of a chain on a worker whose steps flow and only take time. It has one version of its
 * parameters, of which only sizes are known; what it tells others is as large as real sums of
 * gradients.
 */
final class EmulatedStage implements Flowing {
  private final int depth;
  private final Stage stage;
  private final double updateSeconds;
  private final Transport transport;
  private final Departures departures;
  private final Optional<Group> group; // whose members add up their gradients
  private final Sizes sums;
  private final List<Pending> pending = new ArrayList<>();
  private Optional<Relay> relay = Optional.empty(); // of the steps that flow now

  /** All sums are one and the same memory, into which nobody looks. */
  private static final class Sizes implements RelayedSums {
    private final Tensor memory;

    Sizes(List<Parameter> parameters) {
      try (Scope scope = new Scope()) {
        memory = scope.keep(Tensor.empty(FlowSums.size(parameters)));
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
    this.depth = depth;
    this.stage = stage;
    this.updateSeconds = emulation.seconds(stage.range(), LayerSeconds::update);
    this.transport = transport;
    this.departures = departures;
    this.group = group;
    this.sums = new Sizes(stage.whole().parameters());
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
    // the sum of gradients is complete with the update's last micro-batch only
  }

  @Override
  public List<Parameter> parameters() {
    return stage.whole().parameters();
  }

  @Override
  public void begin(Assignment all) {
    relay.ifPresent(Relay::close);
    relay = Optional.of(new Relay(all, depth, transport, sums, departures));
  }

  @Override
  public void ask(int turn) {
    relay.orElseThrow().ask(turn);
  }

  @Override
  public void await(int position) {
    relay.orElseThrow().await();
  }

  @Override
  public void ended(int position) {
    relay.orElseThrow().ended(position);
  }

  @Override
  public void finish() {
    // everything has been handed on behind its turn
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
  public void reduce(int update) {
    pending.add(group.orElseThrow().sum(sums.memory));
  }

  @Override
  public void update(int number) {
    pending.forEach(Pending::await);
    pending.clear();
    Pause.of(updateSeconds);
  }

  @Override
  public OwnStage answering() {
    return this;
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
  public void count(LiveBytes live) {
    // it holds nothing
  }

  @Override
  public int versions() {
    return 1;
  }

  @Override
  public void close() {
    relay.ifPresent(Relay::close);
    sums.memory.close();
    parameters().forEach(parameter -> parameter.value().close());
  }
}
