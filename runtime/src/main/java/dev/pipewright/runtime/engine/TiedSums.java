package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Share;
import dev.pipewright.runtime.net.Tied;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.TensorArena;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Tables that two layers read, as an embedding and the head do, on a worker whose steps end with a
 * flush. Where the worker has both layers, they read the same memory; their gradients are apart
 * until all passes have ended. Then the gradients of all workers that hold the table are summed, it
 * is updated, and workers that shard its states send their parts. The workers of a tensor-parallel
 * group all have the whole gradient, of which each counts for its share of the group, or terms of
 * it, which are added up.
 */
final class TiedSums implements AutoCloseable {
  private final List<Table> tables;
  private final double weight; // of this worker's gradients
  private final Updates updates;

  /**
   * A table.
   *
   * @param own its parameters on this worker: one or both
   * @param group all workers that hold it, unless there is only this one
   * @param shard this worker's part, where they shard its states
   */
  private record Table(List<Parameter> own, Optional<Group> group, Optional<Shard> shard) {
    Parameter first() {
      return own.get(0);
    }

    /** What this worker updates. */
    Parameter learnt() {
      return shard.map(Shard::own).orElse(first());
    }

    boolean hasAnyOf(List<Parameter> parameters) {
      return own.stream().anyMatch(parameters::contains);
    }
  }

  private TiedSums(List<Table> tables, double weight, WorkerSetup setup) {
    this.tables = tables;
    this.weight = weight;
    this.updates = setup.updates(learnt());
  }

  /**
   * Those of a worker; none where it is asynchronous.
   *
   * @param held all parameters that it holds
   */
  static TiedSums of(WorkerSetup setup, List<Parameter> held) {
    Assignment assignment = setup.assignment();
    List<Table> tables = assignment.asyncPipeline().isPresent() ? List.of() : tables(setup, held);
    return new TiedSums(tables, 1.0 / assignment.split(setup.rank()).pieces(), setup);
  }

  private static List<Table> tables(WorkerSetup setup, List<Parameter> held) {
    Assignment assignment = setup.assignment();
    Network network = setup.network();
    Transport transport = setup.transport();
    List<Table> tables = new ArrayList<>();
    for (Tied tied : network.tied()) {
      List<Integer> first = holders(assignment, network, tied.layer());
      List<Integer> second = holders(assignment, network, tied.copyLayer());
      Set<Integer> holders = new TreeSet<>(first);
      holders.addAll(second);
      if (holders.contains(transport.worker())) {
        List<Parameter> own =
            held.stream()
                .filter(p -> p.name().equals(tied.parameter()) || p.name().equals(tied.copy()))
                .toList();
        Optional<Group> group =
            holders.size() == 1
                ? Optional.empty()
                : Optional.of(transport.group("tied-" + tied.copy(), List.copyOf(holders)));
        boolean alike = first.equals(second) || Collections.disjoint(first, second);
        Optional<Shard> shard =
            group
                .filter(members -> alike && assignment.sharding() != ZeroStage.NOTHING)
                .map(members -> {
                  int place = List.copyOf(holders).indexOf(transport.worker());
                  return shard(tied, members, place, own);
                });
        if (shard.isEmpty()) {
          own.subList(1, own.size())
              .forEach(other -> TensorArena.alias(other.value(), own.get(0).value()));
        }
        tables.add(new Table(own, group, shard));
      }
    }
    return tables;
  }

  /**
   * Each keeps the whole parameters, which are needed at times of their own in every stage, and
   * shares out the rest.
   */
  private static Shard shard(Tied tied, Group group, int place, List<Parameter> own) {
    Shard shard =
        new Shard(tied.parameter(), ZeroStage.GRADIENTS, group, place, List.of(own.get(0)));
    own.subList(1, own.size()).forEach(shard::tie);
    return shard;
  }

  private List<Shard> shards() {
    return tables.stream().flatMap(table -> table.shard().stream()).toList();
  }

  private List<Parameter> learnt() {
    return tables.stream().map(Table::learnt).toList();
  }

  /** The names of all such parameters of a network. */
  static Set<String> names(Network network) {
    return network.tied().stream()
        .flatMap(tied -> List.of(tied.parameter(), tied.copy()).stream())
        .collect(Collectors.toCollection(HashSet::new));
  }

  private static List<Integer> holders(Assignment assignment, Network network, int layer) {
    for (int depth = 0; depth < assignment.stages().size(); depth++) {
      var range = assignment.stages().get(depth).range();
      if (network.part(range.first(), range.last()).contains(layer)) {
        return assignment.holders(depth);
      }
    }
    throw new IllegalStateException("a layer of no stage: " + layer);
  }

  /** Replaces all gradients by their sums; all workers call it when theirs are complete. */
  void sum() {
    for (Table table : tables) {
      try (Scope scope = new Scope()) { // which would keep the memory of gradients
        Tensor total = total(table.own());
        if (table.shard().isEmpty()) {
          table.group().ifPresent(group -> group.sum(total).await());
        }
        table.own().forEach(parameter -> parameter.value().clearGradient());
        table.first().value().setGradient(total);
      }
      table.shard().ifPresent(shard -> shard.addUp().await());
    }
  }

  /** What this worker adds to the sum: all its gradients, in the memory of one of them. */
  private Tensor total(List<Parameter> own) {
    List<Tensor> gradients = new ArrayList<>();
    for (Parameter parameter : own) {
      parameter.value().ownGradient();
      parameter.value().gradient().ifPresent(gradients::add);
    }
    if (gradients.isEmpty()) {
      return Tensor.zeros(own.get(0).value().shape());
    }
    Tensor total = gradients.get(0);
    boolean terms = own.get(0).share() instanceof Share.Summed; // of the whole gradient
    double counts = terms ? 1 : weight;
    if (counts < 1) {
      total.scaleInPlace(counts);
    }
    gradients.subList(1, gradients.size()).forEach(other -> total.addInPlace(other, counts));
    return total;
  }

  /** Updates the tables, and sends this worker's parts of those whose states are sharded. */
  void learn() {
    updates.apply(learnt());
    tables.forEach(table -> table.first().value().clearGradient());
    shards().forEach(shard -> Shard.spread(List.of(shard)));
  }

  /** The state of the tables that some parameters are, by parameter; collective for shards. */
  Map<String, List<Tensor>> state(List<Parameter> some) {
    Map<String, List<Tensor>> state = new HashMap<>();
    for (Table table : tables) {
      if (table.hasAnyOf(some) && table.shard().isPresent()) {
        state.putAll(StageState.gathered(table.shard().stream().toList(), updates));
      } else if (table.hasAnyOf(some)) {
        List<Tensor> held = StageState.held(table.first(), updates);
        table.own().forEach(parameter -> state.put(parameter.name(), held));
      }
    }
    return state;
  }

  void restore(List<Parameter> some, Worker.Source source) {
    for (Table table : tables) {
      if (table.hasAnyOf(some) && table.shard().isPresent()) {
        table.shard().get().restore(updates, source);
      } else if (table.hasAnyOf(some)) {
        var state = StageState.of(List.of(table.first()), updates, List.of());
        StageState.restore(state, name -> table.first().share(), source);
      }
    }
  }

  void continueAfter(long before) {
    updates.continueAfter(before);
  }

  /** The bytes of tables and their states between steps. */
  long bytes() {
    return updates.bytes()
        + tables.stream()
            .mapToLong(table ->
                table.shard().map(Shard::bytes).orElseGet(() -> table.first().value().bytes()))
            .sum();
  }

  void count(LiveBytes live) {
    shards().forEach(shard -> shard.count(live));
    updates.count(live);
  }

  @Override
  public void close() {
    shards().forEach(Shard::close);
    updates.close();
  }
}
