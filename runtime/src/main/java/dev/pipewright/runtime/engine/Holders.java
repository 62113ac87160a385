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
 * @param replicas those that hold the same as it does
 * @param everybody all that hold the stage, where it is split: for parameters whose gradients its
 *     parts add up
 */
record Holders(Optional<Group> replicas, Optional<Summing> everybody) {
  static Holders of(Assignment assignment, int depth, Transport transport) {
    int worker = transport.worker();
    int piece = assignment.pieceOf(worker);
    String name = "stage-" + depth;
    List<Integer> same = assignment.holders(depth, worker);
    Optional<Group> replicas =
        same.size() > 1 ? Optional.of(transport.group(name + "-" + piece, same)) : Optional.empty();
    Parallelism split = assignment.stages().get(depth).split();
    if (!split.several()) {
      return new Holders(replicas, Optional.empty());
    }
    if (replicas.isEmpty() || split.reduction() == Reduction.FLAT) {
      return new Holders(
          replicas, Optional.of(transport.group(name, assignment.holders(depth))::sum));
    }
    List<Integer> members = assignment.copy(worker);
    Group tensorGroup = transport.group(name + "-tensor-parallel-" + members.get(0), members);
    return new Holders(
        replicas,
        Optional.of(new Summing.OfTeams(split.reduction(), tensorGroup, piece, replicas.get())));
  }
}
