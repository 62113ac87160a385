package dev.pipewright.runtime.engine;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Reduction;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Transport;
import java.util.List;
import java.util.Optional;

/**
 * The workers that a worker sums a stage's gradients with.
 *
 * @param replicas those that hold the same part as it does
 * @param experts those that hold the same experts, where all workers of nested groups divide these
 * @param everybody all that hold the stage, where it is split: for parameters whose gradients its
 *     parts add up
 */
record Holders(Optional<Group> replicas, Optional<Group> experts, Optional<Summing> everybody) {
  static Holders of(Assignment assignment, int depth, Transport transport) {
    int worker = transport.worker();
    int piece = assignment.pieceOf(worker);
    String name = "stage-" + depth;
    Optional<Group> replicas =
        group(name + "-" + piece, assignment.holders(depth, worker), transport);
    Parallelism split = assignment.stages().get(depth).split();
    if (!split.several()) {
      return new Holders(replicas, Optional.empty(), Optional.empty());
    }
    Optional<Group> experts =
        split.nested() && split.expertParts() > 1
            ? group(
                name + "-experts-" + assignment.partOf(worker),
                ofSameExperts(assignment, depth, worker),
                transport)
            : Optional.empty();
    if (replicas.isEmpty() || split.reduction() == Reduction.FLAT) {
      return new Holders(
          replicas, experts, Optional.of(transport.group(name, assignment.holders(depth))::sum));
    }
    List<Integer> members = assignment.copy(worker);
    Group tensorGroup = transport.group(name + "-tensor-parallel-" + members.get(0), members);
    return new Holders(
        replicas,
        experts,
        Optional.of(new Summing.OfTeams(split.reduction(), tensorGroup, piece, replicas.get())));
  }

  private static Optional<Group> group(String name, List<Integer> members, Transport transport) {
    return members.size() > 1 ? Optional.of(transport.group(name, members)) : Optional.empty();
  }

  /** Those who hold a stage and have the same experts of its mixtures as a worker; ascending. */
  static List<Integer> ofSameExperts(Assignment assignment, int depth, int worker) {
    int part = assignment.partOf(worker);
    return assignment.holders(depth).stream()
        .filter(other -> assignment.partOf(other) == part)
        .toList();
  }
}
