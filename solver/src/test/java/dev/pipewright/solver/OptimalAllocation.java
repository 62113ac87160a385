package dev.pipewright.solver;

import dev.pipewright.schedule.periodic.Pattern;

/**
 * Layers put on equal ranks, neighbours or not, together with the pattern of k batches that has the
 * shortest period of all, and the proof that none is shorter.
 *
 * <p>Paper: O. Beaumont, L. Eyraud-Dubois, A. Shilova, <i>Pipelined Model Parallelism</i>, Euro-Par
 * 2021, §3; theorem 1 shows it strongly NP-complete even without memory limits. Searched as {@link
 * OptimalPattern} is, between what the layers take on all ranks together or the slowest takes alone
 * and one batch after the other. Transfers are stages that take time only between layers on
 * different ranks. Exponential: for a dozen layers, fewer with transfers.
 */
public final class OptimalAllocation {
  private OptimalAllocation() {}

  /**
   * The best pattern, whose placement says where the layers are; the answer's value is its period,
   * of all k batches. What is proven is that none is shorter by a sixtieth of a tick.
   *
   * <p>Throws where durations, or bytes, are not whole multiples of a common tick.
   */
  public static SolverAnswer<Pattern> of(AllocationProblem problem, SearchLimit limit) {
    PeriodSearch search = new PeriodSearch(problem.stages(), limit);
    long[] ticks = search.ticks();
    long slowest = 0;
    long work = 0;
    for (int stage = 0; stage < problem.stages().size(); stage += problem.transfers() ? 2 : 1) {
      long passes = ticks[stage] + ticks[ticks.length - 1 - stage];
      slowest = Math.max(slowest, passes);
      work += passes;
    }
    long all = search.all() * problem.batches();
    long shared = Math.ceilDiv(work * problem.batches(), (long) problem.ranks());
    long low = Math.max(shared, slowest * problem.batches());
    return search.shortest(
        (parted, period) -> new AllocationModel(problem, parted, period), low, all, null);
  }
}
