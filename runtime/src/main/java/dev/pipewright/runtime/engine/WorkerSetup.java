package dev.pipewright.runtime.engine;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.transport.Transport;
import java.util.List;
import java.util.function.Consumer;

/**
 * What all parts of a worker share.
 *
 * @param assignment of a step, or of a round of an asynchronous pipeline
 * @param sends messages between stores
 * @param bucketBytes of gradients that are summed at once where that overlaps the backward pass
 * @param early runs updates within the last backward pass, whose time counts as the update's
 */
record WorkerSetup(
    Assignment assignment,
    Network network,
    UpdateRule rule,
    Computation computation,
    Transport transport,
    PendingSends sends,
    long bucketBytes,
    Consumer<Runnable> early) {
  int worker() {
    return transport.worker();
  }

  int rank() {
    return assignment.rankOf(worker());
  }

  /** The parameters that training changes: none where it is emulated. */
  List<Parameter> learnt(List<Parameter> parameters) {
    return computation.learns() ? parameters : List.of();
  }

  Updates updates(List<Parameter> parameters) {
    return new Updates(rule, parameters);
  }
}
