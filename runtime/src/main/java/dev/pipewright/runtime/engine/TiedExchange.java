package dev.pipewright.runtime.engine;

import static java.util.Objects.requireNonNull;

import dev.pipewright.exchange.TiedStages;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Gradients of a parameter that two stages have ({@link TiedStages}), from a worker with one of
 * them to the worker with the other, or between both on one worker. No worker waits for them before
 * the sum is needed.
 */
final class TiedExchange implements AutoCloseable {
  private final TiedStages stages;
  private final Set<String> names; // of the parameter in both stages
  private final AsyncPipeline asyncPipeline;
  private final Optional<Group> group; // with the other worker; who has the first stage is first
  private final Map<Integer, Handed> handed = new HashMap<>(); // by update

  /** Both gradients of an update, the first stage's first, and later their sum. */
  private static final class Handed {
    private final Tensor both;
    private Optional<Pending> pending = Optional.empty(); // until both are there
    private boolean summed;
    private int taken;

    private Handed(Tensor both) {
      this.both = both;
    }
  }

  private TiedExchange(
      TiedStages stages, Set<String> names, AsyncPipeline asyncPipeline, Optional<Group> group) {
    this.stages = stages;
    this.names = names;
    this.asyncPipeline = asyncPipeline;
    this.group = group;
  }

  /** Those that a worker takes part in; none where steps end with a flush. */
  static List<TiedExchange> of(Assignment assignment, Network network, Transport transport) {
    return assignment
        .asyncPipeline()
        .map(asyncPipeline -> of(asyncPipeline, assignment, network, transport))
        .orElse(List.of());
  }

  private static List<TiedExchange> of(
      AsyncPipeline asyncPipeline, Assignment assignment, Network network, Transport transport) {
    int worker = transport.worker();
    List<TiedExchange> found = new ArrayList<>();
    for (TiedStages stages : TiedStages.of(assignment, network.chain())) {
      if (stages.firsts().contains(worker) || stages.seconds().contains(worker)) {
        List<Integer> pair = stages.pair(worker);
        String name = "tied-%d-%d".formatted(stages.table().copyLayer(), pair.get(0));
        Optional<Group> group =
            stages.together() ? Optional.empty() : Optional.of(transport.group(name, pair));
        found.add(new TiedExchange(stages, names(network, stages), asyncPipeline, group));
      }
    }
    return found;
  }

  private static Set<String> names(Network network, TiedStages stages) {
    return network.tied().stream()
        .filter(pair -> pair.copyLayer() == stages.table().copyLayer())
        .flatMap(pair -> Stream.of(pair.parameter(), pair.copy()))
        .collect(Collectors.toSet());
  }

  /** Whether a parameter is the one exchanged. */
  boolean exchanges(Parameter parameter) {
    return names.contains(parameter.name());
  }

  /** Whether a stage has the parameter. */
  boolean concerns(int depth) {
    return depth == stages.first() || depth == stages.second();
  }

  /** How many updates the parameter has seen that both passes of a micro-batch meet. */
  int version(int microBatch) {
    return asyncPipeline.version(stages.first(), microBatch);
  }

  /**
   * Hands on what a stage adds to an update.
   *
   * @param fill writes its gradient into room for it, one element after the other
   */
  void hand(int depth, int update, Consumer<Tensor> fill) {
    Handed own = handed.computeIfAbsent(update, key -> new Handed(room()));
    int half = depth == stages.first() ? 0 : 1;
    try (Scope scope = new Scope()) {
      Tensor part = half(own, half);
      fill.accept(part);
      own.pending = group.map(pair -> pair.gather(part, own.both));
    }
  }

  private Tensor room() {
    try (Scope scope = new Scope()) {
      return scope.keep(Tensor.empty(2 * stages.table().numbers()));
    }
  }

  private Tensor half(Handed own, int which) {
    long numbers = stages.table().numbers();
    return own.both.part(0, which * numbers, numbers);
  }

  /** Gives a stage the sum of an update's gradients, which it has handed its part of. */
  void take(int update, Consumer<Tensor> learn) {
    Handed own = requireNonNull(handed.get(update), "nothing was sent");
    try (Scope scope = new Scope()) {
      if (!own.summed) {
        own.pending.ifPresent(Pending::await);
        half(own, 0).addInPlace(half(own, 1));
        own.summed = true;
      }
      learn.accept(half(own, 0));
    }
    own.taken++;
    if (own.taken == (stages.together() ? 2 : 1)) {
      handed.remove(update);
      own.both.close();
    }
  }

  /** Adds what is on its way. */
  void count(LiveBytes live) {
    handed.values().forEach(own -> live.add(LiveBytes.Kind.GRADIENTS, own.both));
  }

  @Override
  public void close() {
    handed.values().forEach(own -> own.both.close());
    handed.clear();
  }
}
