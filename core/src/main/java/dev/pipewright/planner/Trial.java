package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.PipelineSearch.Found;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** One way to cut the batch under one schedule: a search of its own within a planning. */
final class Trial {
  final MicroBatching microBatching;
  final PipelinePolicy policy;
  final Optional<Found> firstGuess;
  private final StageCosts costs;
  private final PlacementSpace space;
  private final StagePricer pricer;
  private final int leastStages;
  private final int mostStages;
  private boolean finished;
  private long labels;

  Trial(
      MicroBatching microBatching,
      PipelinePolicy policy,
      StageCosts costs,
      PlacementSpace space,
      StagePricer pricer,
      int leastStages,
      int mostStages) {
    this.microBatching = microBatching;
    this.policy = policy;
    this.costs = costs;
    this.space = space;
    this.pricer = pricer;
    this.leastStages = leastStages;
    this.mostStages = mostStages;
    double[] work = costs.cheapestSecondsPerSample(microBatching.samples());
    this.firstGuess = EvenSplits.best(costs, space, pricer, work, leastStages, mostStages);
  }

  /** The step time of the first guess; infinite when there is none. */
  double guess() {
    return firstGuess.map(Found::seconds).orElse(Double.POSITIVE_INFINITY);
  }

  /** Whether nothing was left out so far, or nothing can be good enough. */
  boolean finished() {
    return finished;
  }

  /** The devices that stages can take. */
  PlacementSpace space() {
    return space;
  }

  /** Partial plans that were priced. */
  long labels() {
    return labels;
  }

  /**
   * The best pipelines within a limit, as {@link PipelineSearch} finds them.
   *
   * @param beam partial plans kept for each number of layers left
   * @param budget partial plans priced before the search narrows
   * @param stop asked now and then whether to end with what there is
   */
  List<Found> search(int beam, long budget, double within, BooleanSupplier stop) {
    if (hopeless(within)) {
      finished = true;
      return List.of();
    }
    pricer.prepare(within);
    if (hopeless(within)) {
      finished = true;
      return List.of();
    }
    PipelineSearch search =
        new PipelineSearch(
            costs, space, pricer, leastStages, mostStages, beam, budget, stop, within);
    List<Found> found = search.run();
    finished = search.exhaustive();
    labels += search.built();
    return found;
  }

  /** Whether no plan at all can be within a limit. */
  private boolean hopeless(double limit) {
    double[] nothing = new double[pricer.width()];
    pricer.nothing(nothing, 0);
    return pricer.bound(nothing, 0, costs.size(), space.freeDevices(space.start())) > limit;
  }
}
