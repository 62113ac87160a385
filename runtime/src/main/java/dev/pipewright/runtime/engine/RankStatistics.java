package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.net.SharedStatistics;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.units.Check;
import java.util.List;

/**
 * Sums over the workers of a rank that together hold a micro-batch, whole or each its part of it.
 */
final class RankStatistics implements SharedStatistics {
  private final Group group;

  private RankStatistics(Group group) {
    this.group = group;
  }

  /**
   * The statistics of this worker's rank.
   *
   * @throws IllegalArgumentException where some worker would have no sample to share
   */
  static SharedStatistics of(Assignment assignment, Transport transport) {
    int worker = transport.worker();
    List<Integer> members = assignment.samePart(worker);
    if (members.size() == 1) {
      return OWN;
    }
    int all = assignment.schedule().microBatches() * assignment.schedule().placement().chains();
    Check.that(
        assignment.batch() / all >= members.size(),
        "workers that share averages have a sample each: samples of a micro-batch=%d, workers=%d",
        assignment.batch() / all,
        members.size());
    return new RankStatistics(transport.group("statistics-" + members.get(0), members));
  }

  @Override
  public boolean shared() {
    return true;
  }

  @Override
  public void sumInPlace(Tensor tensor) {
    group.sum(tensor).await();
  }
}
