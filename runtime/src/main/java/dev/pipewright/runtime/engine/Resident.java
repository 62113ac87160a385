package dev.pipewright.runtime.engine;

import dev.pipewright.exchange.HeldBy;
import dev.pipewright.runtime.net.Parameter;
import java.util.ArrayList;
import java.util.List;

/**
 * All parameters on every worker that holds the stage; their gradients are summed over all workers
 * that have seen other samples or other spatial positions. A worker alone updates segments as soon
 * as the last backward pass has left them, while their gradients are in the caches.
 */
final class Resident extends Flushed {
  private final WorkerSetup setup;
  private final List<GradientSums> sums = new ArrayList<>();
  private final List<List<Parameter>> early; // by segment, what the last pass updates

  Resident(WorkerSetup setup, int depth, TiedSums tied) {
    super(setup, depth, Stage.of(setup, depth), tied, List.of());
    this.setup = setup;
    List<List<Parameter>> byReplicas = summed(setup, stage(), HeldBy.SAME_PART);
    List<List<Parameter>> ofExperts = summed(setup, stage(), HeldBy.SAME_EXPERTS);
    List<List<Parameter>> byAll = summed(setup, stage(), HeldBy.STAGE);
    Holders holders = Holders.of(setup.assignment(), depth, setup.transport());
    holders.replicas().ifPresent(group -> sums.add(new GradientSums(group::sum, byReplicas)));
    holders.experts().ifPresent(group -> sums.add(new GradientSums(group::sum, ofExperts)));
    holders.everybody().ifPresent(all -> sums.add(new GradientSums(all, byAll)));
    this.early = setup.assignment().updatesAhead() ? byReplicas : List.of();
  }

  @Override
  void complete(int segment) {
    sums.forEach(each -> each.begin(segment));
    if (!early.isEmpty()) {
      List<Parameter> complete = early.get(segment);
      setup
          .early()
          .accept(() -> {
            updates().ahead(complete);
            complete.forEach(parameter -> parameter.value().clearGradient());
          });
    }
  }

  @Override
  public void awaitSums() {
    sums.forEach(GradientSums::finish);
  }

  @Override
  void spread() {
    // every worker has updated all parameters
  }

  @Override
  long sumBytes() {
    return sums.stream().mapToLong(GradientSums::bytes).sum();
  }

  @Override
  public void count(LiveBytes live) {
    super.count(live);
    sums.forEach(each -> each.count(live));
  }

  @Override
  public void close() {
    sums.forEach(GradientSums::close);
    super.close();
  }
}
