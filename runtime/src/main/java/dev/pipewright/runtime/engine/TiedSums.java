package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Tied;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Parameters that are one and held twice, as an embedding and the head that reads it are: before
 * the update both gradients become their sum over all workers that hold one of the two. Workers
 * that compute a layer together all have its whole gradient; each counts for its share of them.
 */
final class TiedSums implements AutoCloseable {
  private final List<Pair> pairs;
  private final double weight; // of what this worker has
  private final Updates updates; // of the shards

  /**
   * Of one such parameter.
   *
   * @param own what this worker holds of it: one or both
   * @param group all who hold one, unless it is only this worker
   * @param shard this worker's part of the first, where these share it out
   */
  private record Pair(List<Parameter> own, Optional<Group> group, Optional<Shard> shard) {}

  private TiedSums(List<Pair> pairs, double weight, WorkerSetup setup) {
    this.pairs = pairs;
    this.weight = weight;
    this.updates = setup.updates(own());
  }

  /**
   * Those of a worker; none where it is asynchronous.
   *
   * @param held all parameters that it holds
   */
  static TiedSums of(WorkerSetup setup, List<Parameter> held) {
    Assignment assignment = setup.assignment();
    List<Pair> pairs = assignment.asyncPipeline().isPresent() ? List.of() : pairs(setup, held);
    return new TiedSums(pairs, 1.0 / assignment.split(setup.rank()).parts(), setup);
  }

  private static List<Pair> pairs(WorkerSetup setup, List<Parameter> held) {
    Assignment assignment = setup.assignment();
    Network network = setup.network();
    Transport transport = setup.transport();
    List<Pair> pairs = new ArrayList<>();
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
        pairs.add(new Pair(own, group, shard));
      }
    }
    return pairs;
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
    return pairs.stream().flatMap(pair -> pair.shard().stream()).toList();
  }

  /** The part of those of which some of these parameters are. */
  List<Shard> shards(List<Parameter> some) {
    return pairs.stream()
        .filter(pair -> pair.own().stream().anyMatch(some::contains))
        .flatMap(pair -> pair.shard().stream())
        .toList();
  }

  private List<Parameter> own() {
    return shards().stream().map(Shard::own).toList();
  }

  /** The names of all such parameters of a network. */
  static Set<String> names(Network network) {
    return network.tied().stream()
        .flatMap(tied -> List.of(tied.parameter(), tied.copy()).stream())
        .collect(Collectors.toSet());
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
    for (Pair pair : pairs) {
      try (Scope scope = new Scope()) { // which would keep the memory of gradients
        Tensor total = total(pair.own());
        if (pair.shard().isEmpty()) {
          pair.group().ifPresent(group -> group.sum(total).await());
          pair.own().forEach(parameter -> parameter.value().setGradient(total));
        } else {
          pair.own().forEach(parameter -> parameter.value().clearGradient());
          pair.own().get(0).value().setGradient(total);
        }
      }
      pair.shard().ifPresent(shard -> shard.addUp().await());
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
    if (weight < 1) {
      total.scaleInPlace(weight);
    }
    gradients.subList(1, gradients.size()).forEach(other -> total.addInPlace(other, weight));
    return total;
  }

  /** Updates this worker's shards and sends them. */
  void learn() {
    updates.apply(own());
    shards().forEach(shard -> Shard.spread(List.of(shard)));
  }

  /** The state of the shards of some parameters: {@link StageState#gathered}. */
  Map<String, List<Tensor>> gathered(List<Parameter> some) {
    return StageState.gathered(shards(some), updates);
  }

  void restore(List<Parameter> some, Worker.Source source) {
    shards(some).forEach(shard -> shard.restore(updates, source));
  }

  void continueAfter(long before) {
    updates.continueAfter(before);
  }

  /** The bytes of shards between steps. */
  long bytes() {
    return updates.bytes() + shards().stream().mapToLong(Shard::bytes).sum();
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
