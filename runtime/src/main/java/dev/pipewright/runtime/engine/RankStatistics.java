package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.net.SharedStatistics;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.stream.IntStream;

/** Sums over all workers of a rank, which together hold a micro-batch. */
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
    int rank = assignment.rankOf(transport.worker());
    int workers = assignment.workers().get(rank);
    if (workers == 1) {
      return OWN;
    }
    int all = assignment.schedule().microBatches() * assignment.schedule().placement().chains();
    Check.that(
        assignment.batch() / all >= workers,
        "workers that share averages have a sample each: samples of a micro-batch=%d, workers=%d",
        assignment.batch() / all,
        workers);
    int first = assignment.firstWorker(rank);
    List<Integer> members = IntStream.range(first, first + workers).boxed().toList();
    return new RankStatistics(transport.group("statistics-" + rank, members));
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
