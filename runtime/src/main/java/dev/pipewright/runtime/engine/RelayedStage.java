package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A stage of a chain that is where it is while steps flow: sums of its gradients go from turn to
 * turn, or are added up by all who hold it.
 *
 * @param <S> those sums
 */
abstract class RelayedStage<S extends RelayedSums> implements AsyncTraining {
  final int depth;
  final S sums;
  final Transport transport;
  private final Stage stage;
  private final PendingSends pendingSends;
  private final Optional<Group> group;
  private final List<Pending> pending = new ArrayList<>();
  private Optional<Relay> relay = Optional.empty(); // of the steps that flow now

  /**
   * @param pendingSends of what goes from worker to worker
   * @param group of those who reduce gradients together
   */
  RelayedStage(
      int depth,
      Stage stage,
      S sums,
      Transport transport,
      PendingSends pendingSends,
      Optional<Group> group) {
    this.depth = depth;
    this.stage = stage;
    this.sums = sums;
    this.transport = transport;
    this.pendingSends = pendingSends;
    this.group = group;
  }

  @Override
  public final Stage stage() {
    return stage;
  }

  @Override
  public final List<Parameter> parameters() {
    return stage.whole().parameters();
  }

  @Override
  public void begin(Assignment all) {
    relay.ifPresent(Relay::close);
    relay = Optional.of(new Relay(all, depth, transport, sums, pendingSends));
  }

  @Override
  public final void ask(int turn) {
    relay.orElseThrow().ask(turn);
  }

  @Override
  public final void await(int position) {
    relay.orElseThrow().await();
  }

  @Override
  public final void ended(int position) {
    relay.orElseThrow().ended(position);
  }

  @Override
  public void finish() {
    // everything has been handed on behind its turn
  }

  @Override
  public final void reduce(int update) {
    pending.add(group.orElseThrow().sum(sums.of(update)));
  }

  /** Waits for the sum of all who hold the stage. */
  final void awaitSum() {
    pending.forEach(Pending::await);
    pending.clear();
  }

  @Override
  public final OwnStage answering() {
    return this;
  }

  @Override
  public void count(LiveBytes live) {
    relay.ifPresent(some -> some.count(live));
  }

  @Override
  public void close() {
    relay.ifPresent(Relay::close);
    parameters().forEach(parameter -> parameter.value().close());
  }
}
